"""The list of prices: dated, used to the last one, and replaced by one's own."""

import re
from datetime import date
from importlib import resources

import pytest

from duetime.cost.estimate import estimate
from duetime.cost.prices import InvalidPrices, Price, prices_at
from duetime.cost.workload import ARCHITECTURES, Workload
from tests.facts.workloads import PRICES, priced


def test_the_price_list_is_dated_and_names_its_sources():
    assert isinstance(PRICES.as_of, date)
    assert PRICES.region == "us-east-1"
    assert all(each.source.startswith("AWS price list") for each in PRICES.by_name.values())


def test_the_price_list_is_a_file_of_the_package():
    assert resources.files("duetime.cost").joinpath("prices.toml").is_file()


def test_every_price_is_used():
    made = [priced(Workload(architecture=architecture)) for architecture in ARCHITECTURES]
    lines = [line for each in made for line in each.lines]
    lines += [line for each in made for one in each.alternatives for line in one.lines]
    assert {id(line.price) for line in lines} == {id(each) for each in PRICES.by_name.values()}


def test_a_price_is_for_so_many_units():
    assert Price(2.0, 1_000, "mails", "ours").of(500) == 1


def own(tmp_path, text):
    file = tmp_path / "mine.toml"
    file.write_text(text)
    return file


def usual_text():
    return resources.files("duetime.cost").joinpath("prices.toml").read_text()


def test_a_list_of_ones_own_takes_the_place_of_the_usual(tmp_path):
    text = usual_text().replace("dollars = 0.625", "dollars = 6.25").replace("us-east-1", "sa-east-1")
    prices = prices_at(own(tmp_path, text))
    assert (prices["write-units"].dollars, prices.region) == (6.25, "sa-east-1")
    assert estimate(Workload(), prices).dollars > priced(Workload()).dollars


@pytest.mark.parametrize(
    ("was", "becomes", "told"),
    [
        ("[write-units]", "[writes]", "'write-units' is missing; 'writes' is no price of ours"),
        ("dollars = 0.625", "dollars = -1", "[write-units]: dollars is a number from 0 on"),
        ("dollars = 0.625", "dollars = nan", "[write-units]: dollars is a number from 0 on"),
        ("dollars = 0.625", "euros = 0.625", "[write-units] takes exactly dollars, per, source, unit"),
        ('unit = "write units"', "unit = 3", "[write-units]: unit and source are texts"),
        ("as_of = ", "from = ", "begin it with as_of"),
        ("as_of = ", "as_of = = ", "it is no TOML"),
    ],
)
def test_a_list_that_cannot_be_is_refused(tmp_path, was, becomes, told):
    file = own(tmp_path, usual_text().replace(was, becomes, 1))
    with pytest.raises(InvalidPrices, match=re.escape(told)):
        prices_at(file)


def test_a_list_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(InvalidPrices, match=r"nowhere\.toml: No such file"):
        prices_at(tmp_path / "nowhere.toml")
