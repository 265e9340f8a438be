"""The cadences and options of a job declaration: allowed values and defaults."""

from datetime import timedelta

import pytest

from duetime import App, daily, on_event, once
from duetime.cadence import InvalidCadence, NeverFires, UnknownZone
from duetime.declare.job_rules import read_cadences
from duetime.model.job import Overlap
from tests.facts.job_options import NOW, clean_up, definition_of, rejection


class TestOverlap:
    def test_overlap_default_is_skip_unless_only_events_start_job(self):
        assert definition_of(daily("09:00")).overlap is Overlap.SKIP
        assert definition_of().overlap is Overlap.SKIP
        assert (
            definition_of(on_event("orders", "Placed"), on_event("orders", "Paid")).overlap is Overlap.ALLOW
        )
        assert definition_of(on_event("orders", "Placed"), daily("09:00")).overlap is Overlap.SKIP
        assert definition_of(on_event("orders", "Placed"), overlap="skip").overlap is Overlap.SKIP

    def test_unknown_overlap_is_rejected(self):
        assert "allowed is skip, queue_one, allow, cancel_running" in rejection(
            daily("09:00"), overlap="both"
        )


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"catch_up": -1}, "catch_up is -1; allowed is a whole number from 0 to 100"),
        ({"catch_up": 101}, "catch_up is 101"),
        ({"catch_up": True}, "catch_up is True"),
        ({"catch_up": "3"}, "catch_up is '3'"),
        ({"failure_threshold": 0}, "failure_threshold is 0; allowed is a whole number from 1"),
        ({"precision": "hour"}, "precision is 'hour'; allowed is second or minute"),
        ({"timeout": 0}, "timeout is 0"),
        ({"timeout": timedelta(minutes=16)}, "more than 0 s, up to 0:15:00"),
        ({"timeout": "5m"}, "timeout is '5m'"),
        ({"title": "x" * 101}, "title has 101 characters; at most 100"),
        ({"category": "x" * 51}, "category has 51 characters; at most 50"),
        ({"description": "x" * 501}, "description has 501 characters; at most 500"),
        ({"title": 7}, "title is 7; it must be text"),
        ({"retry": 3}, "retry is 3; use RetryPolicy(attempts=3)"),
    ],
    ids=str,
)
def test_option_out_of_range_is_rejected(options, problem):
    assert problem in rejection(daily("09:00"), **options)


def test_options_at_range_limits_are_accepted():
    assert definition_of(daily("09:00"), catch_up=100, failure_threshold=1, overlap="allow")
    assert definition_of(daily("09:00"), title="x" * 100, category="x" * 50, description="x" * 500)
    assert definition_of(daily("09:00"), timeout=timedelta(minutes=15), precision="minute")


class TestCadences:
    @pytest.mark.parametrize("text", ["61 * * * *", "daily 25:00", "", "hourly"])
    def test_invalid_cadence_is_rejected_with_caret_and_function(self, text):
        assert "^" in rejection(text, error=InvalidCadence)

    def test_cadence_that_never_fires_is_rejected(self):
        assert "^" in rejection("0 0 30 2 *", error=NeverFires)

    @pytest.mark.parametrize("given", [5, NOW, None, timedelta(hours=1), daily])
    def test_value_that_is_no_cadence_is_rejected(self, given):
        assert 'use daily("09:00") or another, or its text' in rejection(daily("09:00"), given)

    def test_repeated_cadence_is_rejected(self):
        assert "Daily_09_00 occurs twice" in rejection(daily("09:00"), "daily 9:00")

    def test_two_intervals_that_differ_by_their_start_alone_are_rejected_as_different_ones(self):
        starts = [f"interval 7m start=2027-01-0{day}T00:00Z" for day in (1, 2)]
        assert "different cadences are named Interval_7m, as intervals of other starts" in rejection(*starts)

    def test_job_has_at_most_twenty_cadences(self):
        many = [daily(f"{hour:02}:00") for hour in range(21)]
        assert len(definition_of(*many[:20]).cadences) == 20
        assert "it has 21 cadences; at most 20 are allowed" in rejection(*many)

    def test_second_cadence_is_rejected_at_minute_precision(self):
        shown = rejection("*/20 * * * * *", daily("09:00"), precision="minute")
        assert "'cron */20 * * * * *' is due at seconds within a minute" in shown

    def test_past_cadence_is_accepted(self):
        assert definition_of(once("2020-01-01 09:00")).cadences == ("once 2020-01-01T09:00",)


class TestDefaultZone:
    def test_default_zone_applies_to_cadences_without_zone(self):
        app = App(default_tz="Europe/Paris")
        app.job(daily("09:00"), daily("10:00", tz="Asia/Tokyo"), on_event("a", "b"))(clean_up)
        assert [job.cadences for job in app.jobs.values()] == [
            ("daily 09:00 default_tz=Europe/Paris", "daily 10:00 tz=Asia/Tokyo", "on_event a b")
        ]

    def test_unknown_default_zone_is_rejected(self):
        with pytest.raises(UnknownZone):
            App(default_tz="Mars/Olympus")

    def test_default_zone_of_nearest_app_is_used(self):
        paris, plain, tokyo = App(default_tz="Europe/Paris"), App(), App(default_tz="Asia/Tokyo")
        paris.job("daily 09:00", name="of-paris")(clean_up)
        plain.job("daily 09:00", name="of-none")(clean_up)
        tokyo.include(paris, plain)
        assert tokyo.jobs["of-paris"].cadences == ("daily 09:00 default_tz=Europe/Paris",)
        assert tokyo.jobs["of-none"].cadences == ("daily 09:00 default_tz=Asia/Tokyo",)

    def test_default_zone_of_settings_is_used_last(self):
        read = read_cadences(["daily 09:00 default_tz=Europe/Paris", "daily 10:00"], default_tz="Asia/Tokyo")
        assert [item.tz for item in read] == ["Europe/Paris", "Asia/Tokyo"]
