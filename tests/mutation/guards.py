"""The table of guards: which test notices which bug, and in which lane of the checks it runs.

A bug is a mutant, a guard that a simulation or a model lacks, or what the worlds of a kind would show.
"""

import csv
import io
import re

import pytest

from tests.mutation.coverage_map import ROOT
from tests.mutation.report import say
from tests.mutation.results import TIMED_OUT, read_killers

TABLE = ROOT / "tests" / "guards.csv"
SIMULATED = ("tests/proof", "tests/model", "tests/spec")
"""The folders whose tests simulate worlds, explore models and remove guards: the table has all of them."""
LANES = {
    "nightly": "nightly",
    "moto_too": "contract",
    "dynamodb_local": "contract",
    "long": "proof",
}
"""The lane of a test that bears the mark: the first one counts. All others run in `make test`."""

RENEWED = "tests/guards.csv has changed: look at the difference, and commit it"


class Lanes:
    """A plugin of pytest: the lane of each collected test."""

    def __init__(self) -> None:
        self.by_test: dict[str, str] = {}

    @pytest.hookimpl(trylast=True)
    def pytest_collection_finish(self, session: pytest.Session) -> None:
        for item in session.items:
            self.by_test[item.nodeid] = lane_of({mark.name for mark in item.iter_markers()})


def lane_of(marks: set[str]) -> str:
    return next((lane for mark, lane in LANES.items() if mark in marks), "test")


def lanes_of(tests: set[str]) -> dict[str, str]:
    """Return the lanes of those of these tests that exist, and of all in the folders that simulate."""
    files = {test.partition("::")[0] for test in tests}
    present = sorted(str(ROOT / path) for path in files if (ROOT / path).exists())
    lanes, quiet = Lanes(), ("-qqq", "--no-header", "-pno:randomly", "-pno:cacheprovider")
    pytest.main(
        ["--collect-only", *quiet, *present, *(str(ROOT / folder) for folder in SIMULATED)], plugins=[lanes]
    )
    simulations = {test for test in lanes.by_test if test.startswith(SIMULATED)}
    return {test: lanes.by_test[test] for test in tests | simulations if test in lanes.by_test}


def main() -> int:
    """Write the table; return 1 if a killer no longer exists, or if the table has changed."""
    killers = {mutant: test for mutant, test in read_killers().items() if test != TIMED_OUT}
    lanes = lanes_of(set(killers.values()))
    missing = sorted(set(killers.values()) - lanes.keys())
    for test in missing:
        mutants = sum(killer == test for killer in killers.values())
        say(f"MISSING: {test}, which notices {mutants} mutants in tests/mutation/killers.json")
    if missing:
        return 1
    found = table_of(killers, lanes)
    numbers = {
        lane: sum(lanes[test] == lane for test in killers.values()) for lane in ("test", *LANES.values())
    }
    say(f"{len(killers)} mutants by the lane of their guard: {numbers}")
    if TABLE.exists() and TABLE.read_text() == found:
        return 0
    TABLE.write_text(found)
    say(RENEWED)
    return 1


def table_of(killers: dict[str, str], lanes: dict[str, str]) -> str:
    """Return a line for each mutant, in the order of the mutants."""
    text = io.StringIO()
    lines = csv.writer(text, lineterminator="\n")
    lines.writerow(["mutant", "test", "lane"])
    lines.writerows([mutant, test, lanes[test]] for mutant, test in sorted(killers.items()))
    simulations = {(group_of(test), lane) for test, lane in lanes.items() if test.startswith(SIMULATED)}
    lines.writerows(["", test, lane] for test, lane in sorted(simulations))
    return text.getvalue()


def group_of(test: str) -> str:
    """Return a test's name without the number of its world; the name of a guard stays."""
    function, _, parameter = test.partition("[")
    return function if re.fullmatch(r"[\w-]*\d\]", parameter) else test
