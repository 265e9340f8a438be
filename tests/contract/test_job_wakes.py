"""The contract of the jobs' wakes, over memory and moto, and when those in memory fire."""
# ruff: noqa: ARG002 - a contract hands its hooks more than each needs

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from duetime.aws.job_wakes import EventBridgeJobWakes
from duetime.memory.job_wakes import MemoryJobWakes
from duetime.settings import Made, Settings
from duetime.testing import TurnedClock
from duetime_contract import JobWakesContract
from duetime_contract.job_wakes import RULE, SCHEDULE
from duetime_contract.specimens import HOUR, MINUTE, NOON, SECOND

ACCOUNT = "123456789012"
HOURLY = replace(SCHEDULE, expression="cron(30 * * * ? *)", tz="UTC")


class TestMemoryJobWakes(JobWakesContract):
    @pytest.fixture
    def wakes(self):
        return MemoryJobWakes(TurnedClock(NOON))

    def is_enabled(self, wakes, kind, name):
        return wakes.wake(kind, name).is_enabled

    def definition_of(self, wakes, kind, name):
        found = wakes.wake(kind, name)
        return (found.expression, found.tz) if kind == "schedule" else found.pattern


class TestEventBridgeJobWakes(JobWakesContract):
    @pytest.fixture
    def wakes(self, moto):
        self.settings = Settings(
            made=Made(
                dispatch_arn=f"arn:aws:lambda:eu-west-1:{ACCOUNT}:function:dispatch",
                timer_role_arn=f"arn:aws:iam::{ACCOUNT}:role/timers",
            )
        )
        self.scheduler, self.events = moto["scheduler"], moto["events"]
        self.scheduler.create_schedule_group(Name=self.settings.made.job_group)
        return EventBridgeJobWakes(self.scheduler, self.events, self.settings)

    def is_enabled(self, wakes, kind, name):
        return self._standing(kind, name)["State"] == "ENABLED"

    def definition_of(self, wakes, kind, name):
        found = self._standing(kind, name)
        if kind == "schedule":
            return found["ScheduleExpression"], found["ScheduleExpressionTimezone"]
        return json.loads(found["EventPattern"])

    def _standing(self, kind, name):
        if kind == "schedule":
            return self.scheduler.get_schedule(GroupName=self.settings.made.job_group, Name=name)
        return self.events.describe_rule(
            Name=self.settings.prefix + name, EventBusName=self.settings.event_bus
        )


@pytest.fixture
def clock():
    return TurnedClock(NOON)


@pytest.fixture
def wakes(clock):
    return MemoryJobWakes(clock)


def test_a_schedule_in_memory_fires_at_each_of_its_times_once(wakes):
    wakes.put(HOURLY)
    assert wakes.next_at() == NOON + 30 * MINUTE
    assert wakes.fire(NOON + 30 * MINUTE - SECOND) == ()
    assert wakes.fire(NOON + 30 * MINUTE) == (HOURLY,)
    assert wakes.fire(NOON + 31 * MINUTE) == ()
    assert wakes.next_at() == NOON + 90 * MINUTE


def test_a_schedule_in_memory_fires_in_its_zone(wakes):
    wakes.put(SCHEDULE)
    assert wakes.next_at() == datetime(2030, 6, 2, 0, 30, tzinfo=UTC)


def test_a_schedule_in_memory_that_is_late_fires_once_for_all_that_it_missed(wakes):
    wakes.put(HOURLY)
    assert wakes.fire(NOON + 5 * HOUR) == (HOURLY,)
    assert wakes.next_at() == NOON + 5 * HOUR + 30 * MINUTE


def test_a_rate_in_memory_counts_from_when_it_was_put_and_keeps_its_step(wakes):
    wakes.put(replace(SCHEDULE, expression="rate(5 minutes)"))
    wakes.fire(NOON + 7 * MINUTE)
    assert wakes.next_at() == NOON + 10 * MINUTE


def test_schedules_in_memory_fire_in_the_order_of_their_times(wakes):
    later = replace(HOURLY, name="report-1", expression="cron(45 * * * ? *)")
    wakes.put(later)
    wakes.put(HOURLY)
    assert wakes.fire(NOON + HOUR) == (HOURLY, later)


def test_a_schedule_in_memory_that_is_put_again_as_it_is_does_not_lose_a_time_that_has_come(wakes, clock):
    wakes.put(HOURLY)
    clock.wait_until(NOON + 40 * MINUTE)
    new = replace(HOURLY, description="Closes the books")
    wakes.put(new)
    assert wakes.fire(clock.now()) == (new,)


def test_a_schedule_in_memory_that_is_changed_fires_from_then_on(wakes, clock):
    wakes.put(HOURLY)
    clock.wait_until(NOON + 40 * MINUTE)
    wakes.put(replace(HOURLY, expression="cron(35 * * * ? *)"))
    assert wakes.fire(clock.now()) == ()
    assert wakes.next_at() == NOON + 95 * MINUTE


def test_a_disabled_schedule_in_memory_does_not_fire_nor_make_up_for_it(wakes, clock):
    wakes.put(replace(HOURLY, is_enabled=False))
    assert wakes.next_at() is None
    clock.wait_until(NOON + 2 * HOUR)
    assert wakes.fire(clock.now()) == ()
    wakes.put(HOURLY)
    assert wakes.fire(clock.now()) == ()
    assert wakes.next_at() == NOON + 2 * HOUR + 30 * MINUTE


def test_a_removed_schedule_in_memory_does_not_fire(wakes):
    wakes.put(HOURLY)
    wakes.remove("schedule", HOURLY.name)
    assert wakes.next_at() is None
    assert wakes.fire(NOON + timedelta(days=1)) == ()


def test_a_schedule_in_memory_without_a_next_time_still_exists(wakes):
    wakes.put(replace(HOURLY, expression="cron(0 0 1 1 ? 2029)"))
    assert wakes.next_at() is None
    assert wakes.known() == (("schedule", HOURLY.name),)


def test_rules_in_memory_return_those_that_an_event_matches(wakes):
    other = replace(RULE, name="mail-digest", pattern={"source": ["orders"]})
    asleep = replace(RULE, name="report-1", is_enabled=False)
    for wake in (RULE, other, asleep, HOURLY):
        wakes.put(wake)
    assert wakes.matching({"source": "orders", "detail-type": "OrderPlaced", "detail": {}}) == (RULE, other)
    assert wakes.matching({"source": "orders", "detail-type": "OrderPaid", "detail": {}}) == (other,)
    assert wakes.matching({"source": "stock", "detail-type": "OrderPlaced", "detail": {}}) == ()


def test_a_rule_in_memory_is_no_schedule(wakes):
    wakes.put(RULE)
    assert wakes.next_at() is None
    assert wakes.fire(NOON + HOUR) == ()
