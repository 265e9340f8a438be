"""The suggested translation of a foreign text has the occurrences that the other scheduler documents.

Each rule is written here as that scheduler's documentation states it, and held against the suggestion minute
by minute, or second by second.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

import pytest

from duetime.cadence import InvalidCadence, parse
from tests.cases import for_each

START = datetime(2027, 1, 25, tzinfo=UTC)
"""A Monday; five weeks from it include the ends of January and February."""
DAYS = 37
ALL_MINUTES = [START + timedelta(minutes=n) for n in range(1, DAYS * 1_440)]


def weekday(t, *names):
    return f"{t:%a}" in names


def last_of_month(t):
    return (t + timedelta(days=1)).month != t.month


MINUTES = {
    # Celery: minute, hour, day of week, day of month, month of year; all must match.
    "crontab(0, 0)": lambda t: (t.hour, t.minute) == (0, 0),
    "crontab(minute=0, hour=[1,2])": lambda t: t.hour in (1, 2) and not t.minute,
    "crontab(0, 0, day_of_month='2')": lambda t: t.day == 2 and (t.hour, t.minute) == (0, 0),
    "crontab(30, '8-10', 'mon,fri')": lambda t: (
        weekday(t, "Mon", "Fri") and 8 <= t.hour <= 10 and t.minute == 30
    ),
    "crontab(0, 12, 5, '1-7')": lambda t: weekday(t, "Fri") and t.day <= 7 and (t.hour, t.minute) == (12, 0),
    "crontab(minute='*/20', hour=(6, 18), month_of_year=2)": lambda t: (
        t.month == 2 and t.hour in (6, 18) and t.minute % 20 == 0
    ),
    # APScheduler: weekdays count from Monday, and what is less significant than the last given is lowest.
    "CronTrigger(hour=3)": lambda t: (t.hour, t.minute) == (3, 0),
    "CronTrigger(minute='*/5')": lambda t: t.minute % 5 == 0,
    "CronTrigger(day_of_week='0-4', hour='9,17')": lambda t: (
        t.weekday() < 5 and t.hour in (9, 17) and not t.minute
    ),
    "CronTrigger(day_of_week=6)": lambda t: t.weekday() == 6 and (t.hour, t.minute) == (0, 0),
    "CronTrigger(day_of_week='*/2', hour=1)": lambda t: t.weekday() % 2 == 0 and (t.hour, t.minute) == (1, 0),
    "CronTrigger(day='2nd tue', hour=5)": lambda t: (
        weekday(t, "Tue") and 8 <= t.day <= 14 and (t.hour, t.minute) == (5, 0)
    ),
    "CronTrigger(day='last', hour=5)": lambda t: last_of_month(t) and (t.hour, t.minute) == (5, 0),
    "CronTrigger(day='1-7', day_of_week='mon')": lambda t: (
        weekday(t, "Mon") and t.day <= 7 and (t.hour, t.minute) == (0, 0)
    ),
    "CronTrigger.from_crontab('0 6 * * 0')": lambda t: t.weekday() == 0 and (t.hour, t.minute) == (6, 0),
    # systemd: a weekday and a date must both match; ~ counts from the end of the month.
    "Mon *-*-01..07 18:00": lambda t: weekday(t, "Mon") and t.day <= 7 and (t.hour, t.minute) == (18, 0),
    "*:0/15": lambda t: t.minute % 15 == 0,
    "*-*-* 8..17/3:05": lambda t: t.hour in (8, 11, 14, 17) and t.minute == 5,
    "*-02~01 12:00": lambda t: (t.month, t.day, t.hour, t.minute) == (2, 28, 12, 0),
    "*-*~3 12:00": lambda t: (t + timedelta(days=3)).day == 1 and (t.hour, t.minute) == (12, 0),
    "Sat,Sun": lambda t: weekday(t, "Sat", "Sun") and (t.hour, t.minute) == (0, 0),
    "quarterly": lambda t: t.month % 3 == 1 and (t.day, t.hour, t.minute) == (1, 0, 0),
    "Mon..Fri *-*-* 02:30:00": lambda t: t.weekday() < 5 and (t.hour, t.minute) == (2, 30),
    # iCalendar
    "RRULE:FREQ=WEEKLY;BYDAY=MO,WE;BYHOUR=9;BYMINUTE=30": lambda t: (
        weekday(t, "Mon", "Wed") and (t.hour, t.minute) == (9, 30)
    ),
    "FREQ=MONTHLY;BYDAY=-1FR;BYHOUR=17;BYMINUTE=0": lambda t: (
        weekday(t, "Fri") and (t + timedelta(days=7)).month != t.month and (t.hour, t.minute) == (17, 0)
    ),
    "FREQ=MONTHLY;BYMONTHDAY=-2,15;BYHOUR=0;BYMINUTE=0": lambda t: (
        (t.day == 15 or (t + timedelta(days=2)).day == 1) and (t.hour, t.minute) == (0, 0)
    ),
    "DTSTART:20270102T090000Z\nRRULE:FREQ=WEEKLY": lambda t: (
        weekday(t, "Sat") and (t.hour, t.minute) == (9, 0)
    ),
    "FREQ=MONTHLY;BYDAY=FR;BYMONTHDAY=5,12,13;BYHOUR=1;BYMINUTE=0": lambda t: (
        weekday(t, "Fri") and t.day in (5, 12, 13) and (t.hour, t.minute) == (1, 0)
    ),
    # EventBridge and Quartz: a weekday's number counts from Sunday, 1.
    "cron(0 9 ? * 2-6 *)": lambda t: t.weekday() < 5 and (t.hour, t.minute) == (9, 0),
    "cron(15 10 ? * 6L *)": lambda t: (
        weekday(t, "Fri") and (t + timedelta(days=7)).month != t.month and (t.hour, t.minute) == (10, 15)
    ),
    "0 0 12 ? * 2,6 *": lambda t: weekday(t, "Mon", "Fri") and (t.hour, t.minute) == (12, 0),
    # others
    "0 2 * * * UTC": lambda t: (t.hour, t.minute) == (2, 0),
    '@Scheduled(cron = "0 0 3 * * MON-FRI", zone = "UTC")': lambda t: (
        t.weekday() < 5 and (t.hour, t.minute) == (3, 0)
    ),
    "CRON_TZ=UTC 0 3 * * *": lambda t: (t.hour, t.minute) == (3, 0),
    "*/20 1 * * * /usr/bin/backup": lambda t: t.hour == 1 and t.minute % 20 == 0,
}
JENKINS = {
    "H H(8-15) * * *": lambda t: 8 <= t.hour <= 15,
    "H(30-40) 4 * * 1-5": lambda t: t.weekday() < 5 and t.hour == 4 and 30 <= t.minute <= 40,
    "H H 8-20 * *": lambda t: 8 <= t.day <= 20,
}
"""Once on each day of these, at a time of Jenkins' choice within the rule."""
INTERVALS = {
    "IntervalTrigger(weeks=1, hours=2)": timedelta(weeks=1, hours=2),
    "rate(5 minutes)": timedelta(minutes=5),
    "@every 1h30m": timedelta(minutes=90),
}


def suggestion(text):
    with pytest.raises(InvalidCadence) as caught:
        parse(text)
    return parse(re.match('write "([^"]+)"', caught.value.remedy)[1])


@for_each("text", MINUTES)
def test_a_translation_has_the_occurrences_that_the_other_scheduler_documents(text):
    expected = [t for t in ALL_MINUTES if MINUTES[text](t)]
    assert [*suggestion(text).between(START, ALL_MINUTES[-1])] == expected
    assert len(expected) > 0 or text == "quarterly"


def test_quarters_begin_in_january_april_july_and_october():
    year = [*suggestion("quarterly").between(START, START + timedelta(days=365))]
    assert [(t.month, t.day) for t in year] == [(4, 1), (7, 1), (10, 1), (1, 1)]


@pytest.mark.parametrize("text", JENKINS)
def test_a_hash_becomes_one_of_the_values_that_jenkins_may_choose(text):
    occurrences = [*suggestion(text).between(START, START + timedelta(days=DAYS))]
    days = {START.date() + timedelta(days=n) for n in range(DAYS)}
    allowed = {
        d
        for d in days
        if any(
            JENKINS[text](datetime(d.year, d.month, d.day, h, m, tzinfo=UTC))
            for h in range(24)
            for m in range(60)
        )
    }
    assert all(map(JENKINS[text], occurrences))
    assert sorted(t.date() for t in occurrences) == sorted(allowed)


@pytest.mark.parametrize("text", INTERVALS)
def test_an_interval_is_as_long(text):
    assert suggestion(text).next_after(START) - START == INTERVALS[text]


@pytest.mark.parametrize(
    "text",
    [
        "crontab(minute=99)",
        "crontab(hour=read())",
        "crontab(0, 0, month=2)",
        "CronTrigger(week=3)",
        "CronTrigger(day='2nd tue', day_of_week='mon')",
        "IntervalTrigger(hours=1.5)",
        "FREQ=DAILY;INTERVAL=2;BYHOUR=9;BYMINUTE=0",
        "FREQ=DAILY",
        "FREQ=YEARLY;BYDAY=2MO;BYHOUR=9;BYMINUTE=0",
        "FREQ=MONTHLY;BYMONTHDAY=1,15;BYSETPOS=1;BYHOUR=9;BYMINUTE=0",
        "2027,2029-*-* 10:00:00",
        "@Scheduled(fixedRate = 5000)",
        "0 2 * * * Mars/X",
    ],
)
def test_what_no_cadence_can_express_is_not_translated(text):
    with pytest.raises(InvalidCadence) as caught:
        parse(text)
    assert 'write "' not in caught.value.remedy


@pytest.mark.parametrize(
    ("zone", "remedy"),
    [
        ("GMT+3", "write Etc/GMT-3, which is 3 hours ahead of UTC"),
        ("UTC+3", "write Etc/GMT-3, "),
        ("UTC-05:00", "write Etc/GMT+5, which is 5 hours behind UTC"),
        ("+14", "write Etc/GMT-14, "),
        ("GMT-1", "write Etc/GMT+1, which is 1 hour behind"),
        ("UTC+0", "write UTC"),
        ("UTC+5:30", "an offset has no name in the IANA database"),
        ("UTC-13", "an offset has no name in the IANA database"),
        ("CEST", "an abbreviation is one offset, of several regions: name the region, as in Europe/Berlin"),
        (
            "PST",
            "an abbreviation is one offset, of several regions: name the region, as in America/Los_Angeles",
        ),
        ("IST", "an abbreviation is one offset, "),
        ("Pari", "use an IANA name"),
    ],
)
def test_the_remedy_of_an_unknown_zone_is_no_other_offset(zone, remedy):
    with pytest.raises(InvalidCadence) as caught:
        parse(f"daily 09:00 tz={zone}")
    assert caught.value.remedy.startswith(remedy)


@pytest.mark.parametrize("zone", ["GMT+3", "UTC+3", "UTC-05:00", "+14", "GMT-1"])
def test_the_suggested_zone_has_the_offset_that_was_written(zone):
    with pytest.raises(InvalidCadence) as caught:
        parse(f"daily 09:00 tz={zone}")
    name = re.match(r"write (\S+),", caught.value.remedy)[1]
    hours = int(re.search(r"[+-]\d+", zone)[0])
    assert parse(f"daily 20:00 tz={name}").next_after(START).hour == (20 - hours) % 24


@pytest.mark.parametrize("text", ["0 0 * * FRI#L", "0 0 * * 5#L", "0 0 * * FRI#-1", "0 0 * * L5"])
def test_other_spellings_of_the_last_friday_are_not_taken_for_every_friday(text):
    with pytest.raises(InvalidCadence) as caught:
        parse(text)
    assert caught.value.remedy == "write FRIL"
