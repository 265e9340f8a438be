"""The most that callers can cost in a day, and the page that lists it."""

from pathlib import Path

from duetime.api.reads import MOST_READS
from duetime.cdk.deployment import Deployment
from duetime.cost.prices import usual_prices
from tests.facts.caller_costs import MOST_LISTS, caller_costs, caller_table

PAGE = Path(__file__).parents[2] / "docs" / "security.md"


def costs(api_rate=50):
    return list(caller_costs(usual_prices(), api_rate=api_rate))


def test_the_page_on_security_has_the_costs_at_the_default_rates():
    assert caller_table(iter(costs(Deployment().api_rate))) in PAGE.read_text()


def test_a_request_reads_as_many_lists_as_are_counted():
    assert MOST_LISTS == MOST_READS


def test_a_lower_rate_costs_proportionally_less_at_the_api_alone():
    full, half = costs(), costs(api_rate=25)
    ratios = [round(after.dollars / before.dollars, 1) for before, after in zip(full, half, strict=True)]
    assert ratios == [1, 0.5, 0.5, 0.5, 0.5, 1]


def test_who_may_do_more_may_cost_more():
    public, signed_in, viewer, member, largest, _million = (cost.dollars for cost in costs())
    assert public < signed_in < viewer
    assert signed_in < member < largest
