"""The cadences and options that a declaration says.

What they may be, and what stands where nothing is said.
"""

from datetime import timedelta

import pytest

from duetime import App, daily, on_event, once
from duetime.cadence import InvalidCadence, NeverFires, UnknownZone
from duetime.declare.job_rules import read_cadences
from duetime.model.job import Overlap
from tests.facts.declared import NOW, clean_up, declared, refusal


class TestOverlap:
    def test_skips_unless_events_alone_start_the_job(self):
        assert declared(daily("09:00")).overlap is Overlap.SKIP
        assert declared().overlap is Overlap.SKIP
        assert declared(on_event("orders", "Placed"), on_event("orders", "Paid")).overlap is Overlap.ALLOW
        assert declared(on_event("orders", "Placed"), daily("09:00")).overlap is Overlap.SKIP
        assert declared(on_event("orders", "Placed"), overlap="skip").overlap is Overlap.SKIP

    def test_that_is_no_policy_is_refused(self):
        assert "allowed is skip, queue_one, allow, cancel_running" in refusal(daily("09:00"), overlap="both")


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
        ({"timeout": timedelta(minutes=16)}, "up to 0:15:00"),
        ({"timeout": "5m"}, "timeout is '5m'"),
        ({"title": "x" * 101}, "title has 101 characters; at most 100"),
        ({"category": "x" * 51}, "category has 51 characters; at most 50"),
        ({"description": "x" * 501}, "description has 501 characters; at most 500"),
        ({"title": 7}, "title is 7; it must be text"),
        ({"retry": 3}, "retry is 3; use RetryPolicy(attempts=3)"),
    ],
    ids=str,
)
def test_an_option_out_of_its_range_is_refused(options, problem):
    assert problem in refusal(daily("09:00"), **options)


def test_options_at_the_ends_of_their_ranges_are_taken():
    assert declared(daily("09:00"), catch_up=100, failure_threshold=1, overlap="allow")
    assert declared(daily("09:00"), title="x" * 100, category="x" * 50, description="x" * 500)
    assert declared(daily("09:00"), timeout=timedelta(minutes=15), precision="minute")


class TestCadences:
    @pytest.mark.parametrize("text", ["61 * * * *", "daily 25:00", "", "hourly"])
    def test_that_are_mistyped_are_refused_with_a_caret_and_the_function(self, text):
        assert "^" in refusal(text, error=InvalidCadence)

    def test_that_never_fire_are_refused_as_such(self):
        assert "^" in refusal("0 0 30 2 *", error=NeverFires)

    @pytest.mark.parametrize("given", [5, NOW, None, timedelta(hours=1), daily])
    def test_that_are_none_are_refused(self, given):
        assert 'use daily("09:00") or another, or its text' in refusal(daily("09:00"), given)

    def test_said_twice_are_refused(self):
        assert "Daily_09_00 occurs twice" in refusal(daily("09:00"), "daily 9:00")

    def test_are_twenty_at_most(self):
        many = [daily(f"{hour:02}:00") for hour in range(21)]
        assert len(declared(*many[:20]).cadences) == 20
        assert "it has 21 cadences; at most 20 are allowed" in refusal(*many)

    def test_of_seconds_are_refused_where_minutes_are_said(self):
        shown = refusal("*/20 * * * * *", daily("09:00"), precision="minute")
        assert "'cron */20 * * * * *' is due at seconds within a minute" in shown

    def test_of_the_past_are_taken_for_they_have_fired(self):
        assert declared(once("2020-01-01 09:00")).cadences == ("once 2020-01-01T09:00",)


class TestADefaultZone:
    def test_is_that_of_cadences_that_name_none(self):
        app = App(default_tz="Europe/Paris")
        app.job(daily("09:00"), daily("10:00", tz="Asia/Tokyo"), on_event("a", "b"))(clean_up)
        assert [job.cadences for job in app.jobs.values()] == [
            ("daily 09:00 default_tz=Europe/Paris", "daily 10:00 tz=Asia/Tokyo", "on_event a b")
        ]

    def test_that_there_is_not_is_refused(self):
        with pytest.raises(UnknownZone):
            App(default_tz="Mars/Olympus")

    def test_of_the_nearest_app_counts(self):
        paris, plain, tokyo = App(default_tz="Europe/Paris"), App(), App(default_tz="Asia/Tokyo")
        paris.job("daily 09:00", name="of-paris")(clean_up)
        plain.job("daily 09:00", name="of-none")(clean_up)
        tokyo.include(paris, plain)
        assert tokyo.jobs["of-paris"].cadences == ("daily 09:00 default_tz=Europe/Paris",)
        assert tokyo.jobs["of-none"].cadences == ("daily 09:00 default_tz=Asia/Tokyo",)

    def test_of_the_settings_is_the_last_to_be_asked(self):
        read = read_cadences(["daily 09:00 default_tz=Europe/Paris", "daily 10:00"], default_tz="Asia/Tokyo")
        assert [item.tz for item in read] == ["Europe/Paris", "Asia/Tokyo"]
