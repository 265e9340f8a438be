"""What may never run is rejected, and nothing else: filters are searched where they narrow each other."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from functools import cache
from itertools import islice, pairwise
from random import Random
from zoneinfo import ZoneInfo

import pytest

from duetime import App
from duetime.cadence import (
    Calendar,
    InvalidCadence,
    NeverFires,
    cadence_warnings,
    daily,
    interval,
    parse,
)
from duetime.errors import DeclarationError
from tests.cases import for_each

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
DAY, YEAR = timedelta(days=1), timedelta(days=366)


@for_each("seed", range(60))
def test_an_interval_as_long_as_the_longest_opening_is_accepted(seed):
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
    # So long a step has one run in 41 years, and an opening admits it from few of its starts.
    with pytest.raises(InvalidCadence, match=f"so it may never run; use at most {longest}d"):
        interval(hours=24 * 14_975 + longest, **filters)
    for _ in range(5):
        start = BEGIN + timedelta(seconds=random.randrange(10**9))
        assert accepted.starting(start).next_after(start) < start + (END - BEGIN)


PIECE = 900
"""Seconds by which starts are tried: windows, steps and clock changes are multiples of twice as many."""
YEARS = 6
STEPS = [*range(1, 49), 50, 51, 96, 97, 98, 100, 144, 149, 288, 336, 337, 672]
WINDOWS = [None, "09:00-17:00", "09:00-10:00", "22:00-02:00", "00:30-23:30", "09:00-12:00,13:00-17:00"]
GAPS = ["02:00-02:30", "01:30-02:30", "02:00-03:00"]


def is_open(local: datetime, filters: dict[str, str]) -> bool:
    """Return whether filters admit a local time, by another way than that of the cadences."""
    days = (filters.get(name, "") for name in ("days", "weeks", "months"))
    return is_in_window(local.time(), filters.get("window", "")) and is_open_on(local.date(), *days)


@cache
def is_in_window(now: time, window: str) -> bool:
    spans = (part.split("-") for part in (window or "00:00-23:59:59").split(","))
    text = f"{now:%H:%M:%S}"
    return any(
        a <= text[:5] and text <= f"{b}:00" if a <= b else text[:5] >= a or text <= f"{b}:00"
        for a, b in spans
    )


@cache
def is_open_on(day: date, days: str, weeks: str, months: str) -> bool:
    week = ["first", "second", "third", "fourth", "fifth"][(day.day - 1) // 7]
    is_last = (day + 7 * DAY).month != day.month
    name, month = f"{day:%a}".lower(), f"{day:%b}".lower()
    return (
        (name in (days or name).split(",") or (days == "mon-fri" and day.weekday() < 5))
        and month in (months or month)
        and ((weeks or week) == week or (weeks == "last" and is_last))
    )


SEEDS = [pytest.param(seed, marks=[pytest.mark.long] * (seed >= 10)) for seed in range(40)]


@pytest.mark.parametrize("seed", SEEDS)
def test_an_interval_without_a_start_is_rejected_if_and_only_if_some_start_never_runs(seed):
    random = Random(seed)  # noqa: S311 - test data
    tz = random.choice(["UTC", "Europe/Paris", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu"])
    step = random.choice(STEPS) * 2 * PIECE
    filters = {"window": random.choice(WINDOWS), "days": random.choice([None, None, "mon", "mon-fri", "sun"])}
    if random.random() < 0.3:
        filters |= {"days": "sun", "weeks": "last", "months": "mar", "window": random.choice(GAPS)}
    filters = {name: value for name, value in filters.items() if value}
    first = datetime(2027, 1, 1, tzinfo=UTC)
    begin, where = int(first.timestamp()), ZoneInfo(tz)
    times = range(begin, begin + YEARS * 366 * 86_400, PIECE)
    met = {at % step for at in times if is_open(datetime.fromtimestamp(at, where), filters)}
    missed = [start for start in range(0, step, PIECE) if start not in met]
    text = f"interval {step}s tz={tz} " + " ".join(f"{name}={value}" for name, value in filters.items())
    stored = parse(text)
    starts = [datetime.fromtimestamp(begin - begin % step + start, UTC) for start in missed]
    random.shuffle(starts)
    runs = (stored.starting(start).next_after(start) for start in starts)
    try:
        stored.check_can_run()
    except InvalidCadence:
        assert any(at is None or at > first + 13 * YEAR for at in runs), text
    else:
        assert all(at is not None and at < first + 69 * YEAR for at in islice(runs, 40)), text


@pytest.mark.parametrize(
    ("text", "longest"),
    [
        ("interval 1d days=sun weeks=last months=mar", "23h"),
        ("interval 2h days=sun weeks=last months=mar window=00:30-02:30", "1h29m59s"),
    ],
)
def test_an_opening_that_the_clocks_shorten_is_as_long_as_they_leave_it(text, longest):
    with pytest.raises(InvalidCadence, match=f"it may never run; use at most {longest}, or"):
        parse(f"{text} tz=Europe/Paris").check_can_run()
    parse(f"{text} tz=UTC").check_can_run()


HIDDEN = [
    "cron */30 2 * 3 SUNL dst=vixie tz=Europe/Paris",
    "daily 02:30 days=sun months=mar weeks=last dst=eventbridge tz=Europe/Paris",
    "daily 02:30 days=sun months=mar weeks=last dst=eventbridge tz=Europe/Paris end=2030-01-01",
    "daily 02:30 days=sun months=mar weeks=last dst=eventbridge tz=Europe/Paris start=2027-01-01 count=3",
    "nth_weekday second sun 02:00,02:59:59 months=mar dst=eventbridge tz=America/New_York",
    "monthly 25,26,27,28,29,30,31 02:15 days=sun months=mar dst=eventbridge tz=Europe/Paris spread=10m",
    "cron 5 0 2-8 9 SUN day_rule=and dst=eventbridge tz=America/Santiago calendar=exclude:12-25",
    "interval 45m window=02:05-02:55 tz=Europe/Paris months=mar weeks=last days=sun",
    "interval 45m start=2027-01-01T00:00Z window=02:05-02:55 tz=Europe/Paris months=mar weeks=last days=sun",
    "every 10m window=02:05-02:55 tz=Europe/Paris months=mar weeks=last days=sun dst=vixie",
]


@for_each("text", HIDDEN)
def test_what_the_clocks_skip_each_time_never_fires(text):
    hidden = parse(text)
    assert hidden.next_after(datetime(2026, 11, 30, tzinfo=UTC)) is None
    with pytest.raises(NeverFires, match=r"the clocks of .* skip each of its times"):
        hidden.check_can_run()
    assert "skip each of its times" in cadence_warnings(hidden)[0]
    app = App()
    with pytest.raises(DeclarationError, match="skip each of its times"):

        @app.job(text)
        def report_send() -> None: ...

    elsewhere = parse(text.replace(hidden.tz, "UTC"))
    elsewhere.check_can_run()
    if "dst=" in text:
        parse(
            text.replace("dst=vixie", "dst=cronos").replace("dst=eventbridge", "dst=cronos")
        ).check_can_run()


@for_each("seed", range(300))
def test_a_cadence_never_fires_if_and_only_if_no_year_shows_one_of_its_times(seed):
    random = Random(seed)  # noqa: S311 - test data
    tz = random.choice(["Europe/Paris", "America/New_York", "America/Santiago", "Australia/Lord_Howe"])
    times = random.sample(["02:00", "02:30", "02:15", "00:30", "01:59", "03:00"], random.randint(1, 2))
    filters = {
        "days": random.choice(["sun", "sun", "sat,sun"]),
        "months": random.choice(["mar", "mar", "sep", "oct", "mar,oct"]),
        "weeks": random.choice(["last", "last", "second", "first", "fifth", "first,last"]),
    }
    options = {"tz": tz, "dst": random.choice(["vixie", "eventbridge"]), **filters}
    shown = []
    for at in daily(",".join(times), **filters).between(datetime(2026, 1, 1, tzinfo=UTC), END):
        local = at.replace(tzinfo=ZoneInfo(tz))
        shown += [at] * (
            local.astimezone(UTC).astimezone(ZoneInfo(tz)).replace(tzinfo=None) == at.replace(tzinfo=None)
        )
    if shown or options["dst"] == "vixie":
        assert daily(",".join(times), **options).next_after(datetime(2026, 1, 1, tzinfo=UTC))
    else:
        with pytest.raises(NeverFires, match="skip each of its times"):
            daily(",".join(times), **options)


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


@for_each("step", [timedelta(hours=1), timedelta(days=1), timedelta(days=7), timedelta(hours=25)])
@for_each("options", [{"window": "09:00-17:00"}, {"days": "thu"}, {"days": "mon", "window": "22:00-23:00"}])
@for_each("start", ["2027-01-04T10:00Z", "2027-01-07T20:00Z", "2027-01-04T21:30Z"])
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
