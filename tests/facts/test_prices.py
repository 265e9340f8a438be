"""The price list: it is dated, every price is used, and a file can replace it."""

import re
from datetime import date
from importlib import resources

import pytest

from duetime.cost.estimate import estimate
from duetime.cost.prices import Price, prices_at
from duetime.cost.workload import ARCHITECTURES, Workload
from duetime.errors import InvalidArgument
from tests.facts.workloads import PRICES, priced


def test_the_price_list_is_dated_and_names_its_sources():
    assert isinstance(PRICES.as_of, date)
    assert PRICES.region == "us-east-1"
    sources = {name: price.source for name, price in PRICES.by_name.items()}
    assert sources.pop("qstash-messages").startswith("Upstash, QStash, pay as you go, read on 2026-")
    assert all(source.startswith("AWS price list") for source in sources.values())


def test_the_price_list_is_of_2026():
    assert date(2026, 1, 1) <= PRICES.as_of < date(2027, 1, 1)


@pytest.mark.parametrize(
    ("name", "dollars", "per"),
    [
        ("write-units", 0.625, 1_000_000),
        ("write-capacity", 0.00065, 1),
        ("read-capacity", 0.00013, 1),
        ("fair-requests", 0.10, 1_000_000),
        ("durable-operations", 8, 1_000_000),
        ("durable-writes", 0.25, 1),
        ("durable-storage", 0.15, 1),
    ],
)
def test_the_list_has_the_prices_that_aws_changed_or_added(name, dollars, per):
    assert (PRICES[name].dollars, PRICES[name].per) == (dollars, per)


def test_the_price_list_is_a_file_of_the_package():
    assert resources.files("duetime.cost").joinpath("prices.toml").is_file()


def test_every_price_is_used():
    estimates = [
        priced(Workload(architecture=architecture, tenants="several")) for architecture in ARCHITECTURES
    ]
    rows = [*estimates, *(row for found in estimates for row in found.alternatives)]
    used = {id(line.price) for row in rows for line in row.lines}
    assert used == {id(price) for price in PRICES.by_name.values()}


def test_a_price_is_proportional_to_its_units():
    assert Price(2.0, 1_000, "mails", "AWS").dollars_for(500) == 1


def own(tmp_path, text):
    file = tmp_path / "mine.toml"
    file.write_text(text)
    return file


def usual_text():
    return resources.files("duetime.cost").joinpath("prices.toml").read_text()


def test_a_file_replaces_the_price_list_of_the_package(tmp_path):
    text = usual_text().replace("dollars = 0.625", "dollars = 6.25").replace("us-east-1", "sa-east-1")
    prices = prices_at(own(tmp_path, text))
    assert (prices["write-units"].dollars, prices.region) == (6.25, "sa-east-1")
    assert estimate(Workload(), prices).dollars > priced(Workload()).dollars


@pytest.mark.parametrize(
    ("was", "becomes", "message"),
    [
        ("[write-units]", "[writes]", "'write-units' is missing; 'writes' is unknown; copy the names from"),
        ("dollars = 0.625", "dollars = -1", "[write-units]: dollars must be a number of at least 0"),
        ("dollars = 0.625", "dollars = nan", "[write-units]: dollars must be a number of at least 0"),
        ("dollars = 0.625", "euros = 0.625", "[write-units] must have exactly dollars, per, source, unit"),
        ('unit = "write units"', "unit = 3", "[write-units]: unit and source must be texts"),
        ("as_of = ", "from = ", "begin it with as_of"),
        ("as_of = ", "as_of = = ", "it is not TOML"),
    ],
)
def test_an_invalid_list_is_rejected(tmp_path, was, becomes, message):
    file = own(tmp_path, usual_text().replace(was, becomes, 1))
    with pytest.raises(InvalidArgument, match=re.escape(message)):
        prices_at(file)


def test_a_missing_file_is_rejected(tmp_path):
    with pytest.raises(InvalidArgument, match=r"nowhere\.toml: No such file"):
        prices_at(tmp_path / "nowhere.toml")
