"""What wakes a job's planner and starts its runs: schedules and rules on EventBridge, seen from outside."""
# ruff: noqa: D102, S101 - a test's name is its sentence

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from duetime.model.job import JobRef
from duetime.ports.jobs import JobWake, JobWakes
from duetime_contract.job_specimens import NIGHTLY, REINDEX
from duetime_contract.specimens import ACME

MANY = 105
"""More than EventBridge lists on one page."""

SCHEDULE = JobWake(
    kind="schedule",
    name="billing-nightly",
    ref=JobRef(ACME, NIGHTLY),
    description="Closes the books, daily at 02:30",
    is_enabled=True,
    expression="cron(30 2 * * ? *)",
    tz="Europe/Paris",
)
RULE = JobWake(
    kind="rule",
    name="kb-reindex",
    ref=JobRef(ACME, REINDEX),
    description="On each event OrderPlaced from orders",
    is_enabled=True,
    cadence="OnEvent_orders_OrderPlaced",
    pattern={"source": ["orders"], "detail-type": ["OrderPlaced"]},
)
BOTH = pytest.mark.parametrize("wake", [SCHEDULE, RULE], ids=["schedule", "rule"])


class JobWakesContract:
    """The wakes of jobs."""

    @pytest.fixture
    def wakes(self) -> JobWakes:
        raise NotImplementedError("override the fixture `wakes`: it returns your back end with no wake set")

    @abstractmethod
    def is_enabled(self, wakes: JobWakes, kind: str, name: str) -> bool:
        """Whether the wake that is there would wake anybody."""

    @abstractmethod
    def definition_of(self, wakes: JobWakes, kind: str, name: str) -> tuple[str, str] | Mapping[str, Any]:
        """Of a schedule that is there: expression and zone. Of a rule: its pattern."""

    def test_the_precision_is_one_that_a_job_can_request(self, wakes: JobWakes) -> None:
        assert wakes.precision in {"second", "minute"}

    def test_no_wake_is_known_at_first(self, wakes: JobWakes) -> None:
        assert [*wakes.known()] == []

    @BOTH
    def test_a_wake_that_was_put_is_known_by_kind_and_name(self, wakes: JobWakes, wake: JobWake) -> None:
        wakes.put(wake)
        assert [*wakes.known()] == [(wake.kind, wake.name)]
        assert self.is_enabled(wakes, wake.kind, wake.name)

    def test_a_schedule_has_its_expression_and_its_zone(self, wakes: JobWakes) -> None:
        wakes.put(SCHEDULE)
        assert self.definition_of(wakes, "schedule", SCHEDULE.name) == ("cron(30 2 * * ? *)", "Europe/Paris")

    def test_a_rule_has_its_pattern(self, wakes: JobWakes) -> None:
        wakes.put(RULE)
        assert self.definition_of(wakes, "rule", RULE.name) == RULE.pattern

    @BOTH
    def test_putting_again_replaces_the_one_of_that_kind_and_name(
        self, wakes: JobWakes, wake: JobWake
    ) -> None:
        wakes.put(wake)
        pattern = {"source": ["orders"], "detail": {"total": [{"numeric": [">", 100]}]}}
        new = replace(wake, description="Closes the books", expression="rate(5 minutes)", tz="Asia/Tokyo")
        wakes.put(new if wake is SCHEDULE else replace(new, pattern=pattern))
        assert [*wakes.known()] == [(wake.kind, wake.name)]
        expected = ("rate(5 minutes)", "Asia/Tokyo") if wake is SCHEDULE else pattern
        assert self.definition_of(wakes, wake.kind, wake.name) == expected

    @BOTH
    def test_putting_the_same_again_changes_nothing(self, wakes: JobWakes, wake: JobWake) -> None:
        for _ in range(2):
            wakes.put(wake)
            assert [*wakes.known()] == [(wake.kind, wake.name)]

    @BOTH
    def test_a_disabled_wake_is_known_and_may_be_enabled_again(self, wakes: JobWakes, wake: JobWake) -> None:
        wakes.put(wake)
        wakes.put(replace(wake, is_enabled=False))
        assert [*wakes.known()] == [(wake.kind, wake.name)]
        assert not self.is_enabled(wakes, wake.kind, wake.name)
        wakes.put(wake)
        assert self.is_enabled(wakes, wake.kind, wake.name)

    @BOTH
    def test_a_wake_may_be_disabled_from_the_first(self, wakes: JobWakes, wake: JobWake) -> None:
        wakes.put(replace(wake, is_enabled=False))
        assert [*wakes.known()] == [(wake.kind, wake.name)]
        assert not self.is_enabled(wakes, wake.kind, wake.name)

    def test_a_schedule_and_a_rule_of_one_name_are_two(self, wakes: JobWakes) -> None:
        wakes.put(SCHEDULE)
        wakes.put(replace(RULE, name=SCHEDULE.name))
        assert sorted(wakes.known()) == [("rule", SCHEDULE.name), ("schedule", SCHEDULE.name)]
        wakes.remove("rule", SCHEDULE.name)
        assert [*wakes.known()] == [("schedule", SCHEDULE.name)]

    @BOTH
    def test_a_removed_wake_is_unknown_and_can_be_put_again(self, wakes: JobWakes, wake: JobWake) -> None:
        wakes.put(wake)
        wakes.remove(wake.kind, wake.name)
        assert [*wakes.known()] == []
        wakes.put(wake)
        assert [*wakes.known()] == [(wake.kind, wake.name)]

    @BOTH
    def test_a_wake_names_its_job_and_a_missing_one_names_none(self, wakes: JobWakes, wake: JobWake) -> None:
        wakes.put(wake)
        assert wakes.owner(wake.kind, wake.name) == wake.ref
        wakes.remove(wake.kind, wake.name)
        assert wakes.owner(wake.kind, wake.name) is None

    @BOTH
    def test_removing_a_missing_wake_changes_nothing(self, wakes: JobWakes, wake: JobWake) -> None:
        wakes.put(replace(wake, name="mail-digest"))
        wakes.remove(wake.kind, wake.name)
        assert [*wakes.known()] == [(wake.kind, "mail-digest")]

    @BOTH
    def test_more_wakes_than_a_page_holds_are_all_known(self, wakes: JobWakes, wake: JobWake) -> None:
        for number in range(MANY):
            wakes.put(replace(wake, name=f"report-{number}"))
        assert sorted(wakes.known()) == sorted((wake.kind, f"report-{number}") for number in range(MANY))
