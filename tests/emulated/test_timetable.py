from datetime import UTC, datetime, timedelta

import pytest

from tests.emulated.schedule_poller import ScheduleKey, Timetable

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
AT_ONCE = timedelta(0)


def description(name="s", expression="rate(1 minute)", **more):
    return {
        "Name": name,
        "GroupName": "g",
        "Arn": f"arn:aws:scheduler:::schedule/g/{name}",
        "ScheduleExpression": expression,
        "ScheduleExpressionTimezone": "UTC",
        "CreationDate": NOON,
        "LastModificationDate": NOON,
        "State": "ENABLED",
        "Target": {"Arn": "arn", "Input": "{}"},
        **more,
    }


@pytest.fixture
def timetable():
    return Timetable()


def names(schedules):
    return [schedule.key.name for schedule in schedules]


def test_a_one_shot_fires_at_its_time_and_is_then_completed(timetable):
    assert timetable.add(description(expression="at(2026-03-01T12:05:00)"), AT_ONCE) == NOON + timedelta(
        minutes=5
    )
    assert timetable.take_due(NOON + timedelta(minutes=4, seconds=59)) == []
    (fired,) = timetable.take_due(NOON + timedelta(minutes=5))
    assert fired.after(fired.next_at) is None
    assert timetable.take_due(NOON + timedelta(days=1)) == []


def test_a_rate_fires_at_its_creation_and_then_once_each_period(timetable):
    assert timetable.add(description(), AT_ONCE) == NOON
    (fired,) = timetable.take_due(NOON)
    assert fired.after(NOON).next_at == NOON + timedelta(minutes=1)


def test_a_cron_expression_is_evaluated_in_its_zone(timetable):
    daily = description(expression="cron(0 9 * * ? *)", ScheduleExpressionTimezone="Asia/Tokyo")
    assert timetable.add(daily, AT_ONCE) == datetime(2026, 3, 2, 0, tzinfo=UTC)


def test_lateness_delays_the_firing_but_not_the_scheduled_time(timetable):
    late = timedelta(seconds=40)
    assert timetable.add(description(), late) == NOON + late
    assert timetable.take_due(NOON) == []
    assert timetable.take_due(NOON + late)[0].next_at == NOON


def test_a_schedule_in_the_past_and_a_disabled_one_never_fire(timetable):
    timetable.add(description("past", "at(2001-01-01T00:00:00)"), AT_ONCE)
    timetable.add(description("off", State="DISABLED"), AT_ONCE)
    assert timetable.take_due(NOON + timedelta(days=9)) == []


def test_start_and_end_bound_a_rate(timetable):
    start, end = NOON + timedelta(minutes=10), NOON + timedelta(minutes=11)
    assert timetable.add(description(StartDate=start, EndDate=end), AT_ONCE) == start
    (fired,) = timetable.take_due(start)
    second = fired.after(start)
    assert second.next_at == end
    assert second.after(end) is None


@pytest.mark.parametrize(
    "bad",
    [
        {"ScheduleExpression": "hello"},
        {"ScheduleExpression": "cron(99 99 * * * *)"},
        {"ScheduleExpression": "rate(0 minutes)"},
        {"ScheduleExpressionTimezone": "Mars/X"},
    ],
)
def test_a_schedule_that_aws_would_reject_is_logged_and_the_others_fire(timetable, caplog, bad):
    timetable.add(description("bad") | bad, AT_ONCE)
    timetable.add(description("good"), AT_ONCE)
    assert names(timetable.take_due(NOON)) == ["good"]
    assert "schedule bad never fires" in caplog.text


def test_a_changed_schedule_fires_by_its_new_expression_only(timetable):
    timetable.add(description(expression="at(2026-03-01T12:01:00)"), AT_ONCE)
    timetable.add(description(expression="at(2026-03-01T12:02:00)"), AT_ONCE)
    assert timetable.take_due(NOON + timedelta(minutes=1)) == []
    assert names(timetable.take_due(NOON + timedelta(minutes=2))) == ["s"]


def test_a_deleted_schedule_does_not_fire(timetable):
    for name in ("a", "b", "c"):
        timetable.add(description(name), AT_ONCE)
    timetable.forget(ScheduleKey("g", "a"))
    assert names(timetable.take_due(NOON)) == ["b", "c"]
    timetable.add(description("d"), AT_ONCE)
    timetable.forget_group("g")
    assert timetable.take_due(NOON) == []
