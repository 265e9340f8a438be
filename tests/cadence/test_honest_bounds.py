"""What may never run is rejected, and nothing else: filters are searched where they narrow each other."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import pairwise
from random import Random

import pytest

from duetime.cadence import Calendar, InvalidCadence, NeverFires, daily, interval

FILTERS = {
    "days": ["mon", "mon-fri", "sat,sun,mon", "mon-thu"],
    "weeks": ["first", "last", "fifth", "first,fifth", "second,third", "fourth,last"],
    "months": ["feb", "jan,dec", "jun", "mar-may"],
    "calendar": [
        Calendar(["sun"]),
        Calendar(include=["mon", "tue"]),
        Calendar(["02-29", "sat"]),
        Calendar(["2026-02-01"]),
    ],
}
BEGIN, END = datetime(2030, 1, 1, tzinfo=UTC), datetime(2071, 1, 1, tzinfo=UTC)
DAY = timedelta(days=1)


@pytest.mark.parametrize("seed", range(60))
def test_an_interval_is_rejected_if_and_only_if_it_is_longer_than_each_opening(seed):
    random = Random(seed)  # noqa: S311 - test data
    filters = {name: random.choice(values) for name, values in FILTERS.items() if random.random() < 0.6}
    try:
        days = [at.date() for at in daily("00:00", **filters).between(BEGIN - DAY, END)]
    except NeverFires:
        return
    longest = run = 1
    for day, following in pairwise(days):
        run = run + 1 if following - day == DAY else 1
        longest = max(longest, run)
    if longest > 4_000:
        return
    accepted = interval(hours=24 * longest, **filters)
    with pytest.raises(InvalidCadence, match=f"it may never run; use at most {longest}d"):
        interval(hours=24 * longest, seconds=1, **filters)
    for _ in range(5):
        start = BEGIN + timedelta(seconds=random.randrange(10**9))
        assert accepted.starting(start).next_after(start) < start + (END - BEGIN)


def test_an_interval_of_three_days_misses_each_february_29():
    with pytest.raises(InvalidCadence, match="it may never run; use at most 1d"):
        interval(days=3, weeks="fifth", months="feb")


def test_a_window_of_one_second_has_no_length_to_suggest():
    with pytest.raises(InvalidCadence, match="it may never run") as caught:
        interval(hours=25, window="09:00-09:00")
    assert caught.value.remedy.startswith('use a cadence of the wall clock, as in daily("09:00")')


def test_a_time_that_the_clocks_skip_on_its_only_day_never_fires():
    calendar = Calendar(include=["2026-03-29"])
    assert daily("02:30", tz="Europe/Paris", calendar=calendar).next_after(BEGIN - 2_000 * DAY)
    with pytest.raises(NeverFires, match="leave no run"):
        daily("02:30", tz="Europe/Paris", calendar=calendar, dst="eventbridge")


def test_a_spread_of_one_minute_spreads_and_longer_ones_of_minutes_keep_to_minutes():
    delays = {daily("09:00", spread="1m").delayed_for(f"acme/job-{n}").delay for n in range(200)}
    assert len(delays) > 40
    assert max(delays) < 60
    assert daily("09:00", spread="1m").precision == "second"
    assert {daily("09:00", spread="2m").delayed_for(f"acme/job-{n}").delay for n in range(50)} == {0, 60}
    assert daily("09:00", spread="2m").precision == "minute"


@pytest.mark.parametrize(
    "step", [timedelta(hours=1), timedelta(days=1), timedelta(days=7), timedelta(hours=25)]
)
@pytest.mark.parametrize(
    "options", [{"window": "09:00-17:00"}, {"days": "thu"}, {"days": "mon", "window": "22:00-23:00"}]
)
@pytest.mark.parametrize("start", ["2027-01-04T10:00Z", "2027-01-07T20:00Z", "2027-01-04T21:30Z"])
def test_an_interval_with_a_start_is_rejected_if_and_only_if_it_never_runs(step, options, start):
    minutes = step // timedelta(minutes=1)
    times = (datetime.fromisoformat(start) + n * step for n in range(1, 700))
    opens, _, shuts = options.get("window", "00:00-23:59").partition("-")
    weekday = options.get("days", "")
    is_due = any(opens <= f"{at:%H:%M}" <= shuts and weekday in ("", f"{at:%a}".lower()) for at in times)
    if not is_due:
        with pytest.raises(NeverFires, match="none of its times"):
            interval(minutes=minutes, start=start, **options)
    else:
        assert interval(minutes=minutes, start=start, **options).next_after(BEGIN - 1_095 * DAY)


def test_without_a_start_an_interval_longer_than_each_opening_may_never_run():
    with pytest.raises(InvalidCadence, match=r"it may never run; use at most 8h, .*a start= whose times"):
        interval(days=1, window="09:00-17:00")


@pytest.mark.parametrize("tz", ["Africa/Casablanca", "America/Adak", "Pacific/Kiritimati"])
def test_a_short_interval_with_filters_is_accepted_in_zones_on_both_sides_of_utc(tz):
    interval(seconds=1, months="mar,oct", tz=tz)
