"""Writes `on_moto.json`: few tests, and cheap ones, that send each expression to moto.

``python -m tests.contract.on_moto`` runs the contract suite over moto, which takes minutes.
"""

import json
import sys
import time
from collections.abc import Iterator, Mapping
from unittest import mock

import pytest

from tests.contract import expressions
from tests.contract.conftest import SENT
from tests.contract.expressions import LISTED


class Costs:
    """The processor time of each test, in seconds, and what it sent to moto."""

    def __init__(self) -> None:
        self.of: dict[str, float] = {}
        self.sent: dict[str, set[str]] = {}

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        start = time.process_time()
        found = yield
        self.of[item.nodeid] = time.process_time() - start
        return found

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        self.sent = session.config.stash.get(SENT, {})


def cover(sent: Mapping[str, set[str]], costs: Mapping[str, float]) -> dict[str, str]:
    """Return a test for each expression: at each step the one with the most new ones for its cost."""
    left, found = set[str]().union(*sent.values()), dict[str, str]()
    while left:
        best = max(sent, key=lambda test: (len(sent[test] & left) / max(costs[test], 0.01), test))
        found |= dict.fromkeys(sent[best] & left, best)
        left -= sent[best]
    return dict(sorted(found.items()))


def main() -> int:
    costs = Costs()
    names = "moto and not each_listed"  # which names tests that may be gone
    options = ("-q", "-n0", "-pno:randomly", "-pno:cacheprovider", "-k", names, "-m", "not dynamodb_local")
    with mock.patch.object(expressions, "check_moto"):
        ends = pytest.main([str(LISTED.parent), *options], plugins=[costs])
    if ends == pytest.ExitCode.OK:
        found = cover(costs.sent, costs.of)
        LISTED.write_text(json.dumps(found, indent=1) + "\n")
        print(f"{len(found)} expressions, {len({*found.values()})} tests in {LISTED.name}")  # noqa: T201
    return int(ends)


if __name__ == "__main__":
    sys.exit(main())
