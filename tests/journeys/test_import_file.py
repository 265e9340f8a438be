"""The worked example of an import: each line is stored, the bar shows it, and one report follows."""

from datetime import UTC, datetime

import pytest

from duetime.errors import BackendUnavailable
from duetime.testing import Faults, SimulatedCloud
from examples.import_file import Imports, Shop, ShopInMemory, app

NOON = datetime(2027, 3, 1, 12, tzinfo=UTC)
LINES = [f"article-{number};{number}" for number in range(40)]


class Office:
    def __init__(self, faults=None):
        self.shop = ShopInMemory()
        self.cloud = SimulatedCloud(app, start=NOON, resources={Shop: self.shop}, faults=faults)
        self.imports = Imports(self.cloud.scheduler)

    @property
    def reports(self):
        return list(self.shop.reports.values())


@pytest.fixture
def office():
    office = Office()
    yield office
    office.cloud.check()
    office.cloud.close()


def test_the_bar_grows_and_one_report_is_sent(office):
    office.imports.begin("march", [*LINES, "no price"])
    assert office.imports.bar("march") == "[....................] 0 of 41, 0 failed"
    office.cloud.advance(minutes=5)
    assert office.imports.bar("march") == "[####################] 41 of 41, 1 failed"
    assert (len(office.shop.articles), office.reports) == (40, ["march"])


def test_a_repeated_call_adds_no_line_and_sends_no_second_report(office):
    for _ in range(2):
        office.imports.begin("march", LINES)
        office.cloud.advance(minutes=5)
    assert office.imports.bar("march") == "[####################] 40 of 40, 0 failed"
    assert (len(office.cloud.actions()), office.reports) == (41, ["march"])


@pytest.mark.parametrize("seed", range(5))
def test_an_import_meets_faults_and_is_complete_once(seed):
    office = Office(Faults(seed))
    office.imports = Imports(office.cloud.scheduler_for("acme", "office", meets_faults=True))
    for _ in range(20):
        try:
            office.imports.begin("march", LINES)
            break
        except BackendUnavailable:
            office.cloud.advance(seconds=5)
    office.cloud.advance(hours=1)
    office.cloud.end_faults()
    office.cloud.advance(hours=2)
    office.cloud.check()
    batch = office.cloud.scheduler.batches.get("march")
    assert (batch.state, batch.counts.executed, len(office.shop.articles)) == ("complete", 40, 40)
    assert office.reports == ["march"]
    office.cloud.close()
