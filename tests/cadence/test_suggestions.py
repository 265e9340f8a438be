"""Every suggestion means what the other system means: each message with ``write "…"``, over random texts."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta
from functools import cache
from itertools import product
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

import duetime
from duetime.cadence import Cadence, InvalidCadence, cadence_warnings, cron, parse
from tests.cadence.oracle import Plain
from tests.cadence.other_languages import JENKINS, SIX, Written, expressions, jenkins_values, texts
from tests.cases import for_each

FIRST = date(2027, 1, 1)
DAYS = [FIRST + timedelta(days=n) for n in range(500)]
"""More than a year: two years can be told apart."""
FIRST_MINUTE = datetime(2026, 1, 1, tzinfo=UTC)
ONE_DAY, SECOND = timedelta(days=1), timedelta(seconds=1)
TEXTS = texts()


def midnight(day: date) -> datetime:
    return datetime(day.year, day.month, day.day, tzinfo=UTC)


def days_of(cadence: Cadence) -> list[date]:
    """Return the days in DAYS on which a cadence in UTC runs."""
    found, at = [], midnight(DAYS[0]) - SECOND
    while (at := cadence.next_after(at)) is not None and at.date() <= DAYS[-1]:
        found.append(at.date())
        at = midnight(at.date() + ONE_DAY) - SECOND
    return found


def times_of(cadence: Cadence, day: date) -> list[timedelta]:
    return [
        at - midnight(day) for at in cadence.between(midnight(day) - SECOND, midnight(day + ONE_DAY) - SECOND)
    ]


def message_of(text: str) -> str:
    """Return the error of a text, or its note."""
    try:
        return " ".join(cadence_warnings(parse(text)))
    except InvalidCadence as refused:
        return f"{refused.problem}; {refused.remedy}"


def suggested(message: str) -> str | None:
    found = re.search(r'write "([^"]+)"', message)
    return found and found[1]


def agree(cadence: Cadence, written: Written) -> None:
    expected = [day for day in DAYS if written.has_day(day)]
    assert days_of(cadence) == expected
    if expected:
        assert times_of(cadence, expected[0]) == written.times()


@pytest.mark.parametrize("language", TEXTS)
@given(data=st.data())
def test_a_suggestion_has_the_occurrences_of_the_other_language(language, data):
    text, written = data.draw(TEXTS[language])
    message = message_of(text)
    found = suggested(message)
    if found is not None:
        agree(parse(found), written)
    elif language == "Quartz, without a year" and "Quartz' cron" not in message:
        is_another_language = re.fullmatch("(29|30|31)W", written.fields["day"])
        if "Quartz and EventBridge count from Sunday 1" not in message and not is_another_language:
            agree(parse(text), written)
    else:
        if language == "APScheduler" and re.search("ignored there|longer than its range", message):
            return
        if "Quartz" in language and re.search("(29|30)W of February is its last weekday there", message):
            return
        follow = max(written.years) - min(written.years) < len(written.years)
        assert follow or "follow each other" in message
        years = range(12 * 366)
        assert not follow or not any(written.has_day(FIRST + timedelta(days=n)) for n in years), message


HASHES = {
    "minute": ("0-59", "2-5"),
    "hour": ("0-23", "8-17"),
    "day": ("1-28", "1-4"),
    "weekday": ("0-6", "1-5"),
}


@given(expressions(JENKINS), st.data())
def test_a_hash_of_jenkins_is_spread_or_one_of_its_values(written, data):
    fields = dict(written.fields)
    for name in data.draw(
        st.sampled_from([["minute"], ["hour"], ["minute", "hour"], ["minute", "day"], ["weekday"]])
    ):
        every, part = HASHES[name]
        values = data.draw(st.sampled_from(["", f"({part})", f"({every})"]))
        fields[name] = f"H{values}{data.draw(st.sampled_from(['', '/2', '/3', '/7']))}"
    cadence = parse(suggested(message_of(" ".join(fields[name] for name in SIX[1:]))))
    options = {name: jenkins_values(text, HASHES.get(name, [""])[0]) for name, text in fields.items()}
    for key in "abc":
        delayed = cadence.delayed_for(key)
        days = days_of(delayed)
        choices = (
            Written(JENKINS, fields | {"day": day, "weekday": weekday})
            for day, weekday in product(options["day"], options["weekday"])
        )
        assert any(days == [day for day in DAYS if chosen.has_day(day)] for chosen in choices)
        times = [
            Written(JENKINS, fields | {"minute": minute, "hour": hour}).times()
            for minute, hour in product(options["minute"], options["hour"])
        ]
        assert not days or times_of(delayed, days[0]) in times


@for_each("options", ["", " tz=Europe/Paris", " window=00:00-23:00", " days=mon-fri"])
@for_each("days", ["* * *", "1 * *", "* 2 MON-FRI", "? * FRI#2", "L * *", "1 * MON"])
@for_each("times", ["* 2", "* 9,17", "* 0 2"])
def test_the_note_on_each_minute_suggests_the_first_of_them(times, days, options):
    original = parse(f"{times} {days}{options}{' day_rule=and' * (days == '1 * MON')}")
    found = suggested(next(note for note in cadence_warnings(original) if "to run once in it" in note))
    once = parse(found)
    assert once.modifiers == original.modifiers
    bare = cron(once.expression, day_rule=once.day_rule)
    first, end = BEGIN, BEGIN + timedelta(days=40)
    first_minutes = minutes_of(" ".join(["0", *original.expression.split()[1:]]), original.day_rule)
    assert [*bare.between(first, end)] == first_minutes


BEGIN = datetime(2027, 1, 1, tzinfo=UTC)


@cache
def minutes_of(expression: str, day_rule: str) -> list[datetime]:
    """Return the minutes of forty days that the oracle admits."""
    plain = Plain.parse(expression, day_rule)
    minutes = (BEGIN + timedelta(minutes=n) for n in range(1, 40 * 1_440))
    return [at for at in minutes if plain.matches(at)]


def test_each_message_that_suggests_a_text_is_compared_here():
    root = Path(duetime.__file__).parent
    found = {
        str(path.relative_to(root)): count
        for path in root.rglob("*.py")
        if (count := len(re.findall(r'\bwrite \\?"', path.read_text())))
    }
    assert found == {"cadence/dialects.py": 1, "cadence/foreign_cron.py": 1, "cadence/preview.py": 2}


@for_each(
    ("text", "written"),
    [
        ('schedule: "@every 1h30m"', "interval 1h30m"),
        ('schedule: "CRON_TZ=Europe/Paris 0 3 * * *"', "0 3 * * * tz=Europe/Paris"),
        ('schedule: "0 3 * * *"\n  timeZone: "Europe/Paris"', "0 3 * * * tz=Europe/Paris"),
        ("CRON_TZ=UTC @every 5m", "interval 5m tz=UTC"),
        ("0 0 12 ? * L", "0 0 12 ? * SAT"),
        ("0 0 9 31W JUNE ? 2027,2028", "0 0 9 LW JUN ? start=2027-01-01 end=2028-12-31"),
        ("0 0 9 30W 3,4 ? *", "0 0 9 30W 3,4 ?"),
        ("0 0 12 ? */2 L", "0 0 12 ? */2 SAT"),
        ("0 0 12 ? JAN L", "0 0 12 ? JAN SAT"),
        ("0 9 * * * America/New_York # nightly", "0 9 * * * tz=America/New_York"),
        ("0 9 * * * in America/New_York", "0 9 * * * tz=America/New_York"),
        ("0 9 * * * Z", "0 9 * * * tz=UTC"),
        ("0 9 * * * EST5EDT", "0 9 * * * tz=EST5EDT"),
        ("@monthly at 9", "monthly 1 09:00"),
        ("@daily at 9:30", "daily 09:30"),
        ("CronTrigger(hour=3, timezone=utc)", "0 3 * * * tz=UTC"),
        ("CronTrigger(hour=3, timezone=datetime.timezone.utc)", "0 3 * * * tz=UTC"),
        ("CronTrigger(hour=3, timezone='utc', jitter=None)", "0 3 * * * tz=UTC"),
        ("IntervalTrigger(hours=1, start_date=None)", "interval 1h"),
        ("CronTrigger(hour=3, end_date='2027-12-31 09:00:00')", "0 3 * * * end=2027-12-31T09:00:00"),
        ("CronTrigger(hour=9, end_date='2028-05-30')", "0 9 * * * end=2028-05-30T00:00"),
        ("IntervalTrigger(hours=1, end_date='2028-05-30')", "interval 1h end=2028-05-30T00:00"),
        ("IntervalTrigger(hours=1, start_date='2027-01-01')", "interval 1h start=2026-12-31T23:00:00Z"),
        (
            "IntervalTrigger(days=1, start_date='2027-07-01 09:00:00', timezone='Europe/Paris')",
            "interval 1d start=2027-06-30T07:00:00Z tz=Europe/Paris",
        ),
        (
            "IntervalTrigger(minutes=7, start_date=datetime.datetime(2027, 1, 4, 9), timezone=utc)",
            "interval 7m start=2027-01-04T08:53:00Z tz=UTC",
        ),
        (
            "IntervalTrigger(minutes=7, start_date='2027-01-04T09:00+02:00')",
            "interval 7m start=2027-01-04T06:53:00Z",
        ),
        ("CronTrigger(hour=3, start_date=datetime(2027, 1, 4))", "0 3 * * * start=2027-01-04T00:00:00"),
        ("crontab(minute=0, day_of_week='tues')", "0 * * * tue"),
        ("crontab(0, 0, 'Tuesday-Thurs', month_of_year='sept')", "0 0 * sep Tue-Thu"),
        (
            "CronTrigger(year=2028, start_date='2027-03-01', hour=9)",
            "0 9 * * * start=2028-01-01 end=2028-12-31",
        ),
        (
            "CronTrigger(year=2028, start_date='2028-03-01 08:00:00', end_date='2028-12-31', hour=9)",
            "0 9 * * * start=2028-03-01T08:00:00 end=2028-12-31T00:00",
        ),
        (
            "CronTrigger(year=2028, end_date='2029-03-01', hour=9, timezone='UTC')",
            "0 9 * * * start=2028-01-01 end=2028-12-31 tz=UTC",
        ),
        ("0 0 9 ? * MONDAY 2027", "0 0 9 ? * MON start=2027-01-01 end=2027-12-31"),
        ("cron(0 9 ? May,June Monday *)", "0 9 ? May,Jun Mon"),
        ('@Scheduled(cron = "0 0 9 * JANUARY MONDAY")', "0 0 9 * JAN MON"),
        ("H,30 * * * *", "3,30 * * * *"),
        ("H H(1-3),20 * * *", "0 3,20 * * * spread=1h"),
        ("H/15,58 2 * * *", "0-59/15,58 2 * * *"),
        ("0 9 * * Monday", "0 9 * * Mon"),
        ("0 9 1 January * tz=Europe/Paris", "0 9 1 Jan * tz=Europe/Paris"),
        ("30 0 9 * * Monday,Friday", "30 0 9 * * Mon,Fri"),
        ("0 9 * * Monday /usr/bin/backup", "0 9 * * Mon"),
        ("0 9 * * mon to fri", "0 9 * * mon-fri"),
        ("0 9 * * mon through fri", "0 9 * * mon-fri"),
        ("0 9 * * monday, wed and fri", "0 9 * * mon,wed,fri"),
        ("0 9 * * 1 to 5", "0 9 * * 1-5"),
        ("0 9 1 * mon or tue", "0 9 1 * mon,tue day_rule=or"),
        ("0 9 * * * php run.php", "0 9 * * *"),
        ("rate(1 minute)", "interval 1m"),
        ("cron: '0 9 * JUL WED'", "0 9 * JUL WED"),
        ("schedule: '@daily'", "@daily"),
        ("schedule: '*/90 * * * *'", "0 * * * *"),
        ("schedule: '0 0 */40 * MON,*/9'", "0 0 1 * MON,SUN day_rule=or"),
        ("crontab(minute='*/90', hour='22-6/30')", "0 22 * * *"),
        ("crontab(minute=0, hour='22-6')", "0 22-6 * * *"),
        ('@Scheduled(cron = "0 5-9/7 0 * * */9")', "0 5 0 * * MON"),
        ("*/90 * * * * /usr/bin/backup", "0 * * * *"),
        ("0 /18 * * * ?", "0 */18 * * * ?"),
        ("0 5,/18 * ? * MON", "0 5,*/18 * ? * MON"),
        ("0 0 9 ? * /2 *", "0 0 9 ? * TUE,THU,SAT,SUN"),
        ("CronTrigger(hour='0-0/2', minute=5)", "5 0-0/2 * * *"),
    ],
)
def test_other_spellings_of_a_language_are_translated(text, written):
    with pytest.raises(InvalidCadence) as caught:
        parse(text)
    assert suggested(caught.value.remedy) == written
    assert parse(written)


@pytest.mark.parametrize("start", ["2027-01-04 09:00:00", "2027-03-27 02:30:00", "2027-10-31 02:30:00"])
@pytest.mark.parametrize("tz", ["UTC", "Europe/Paris", "Australia/Lord_Howe"])
@pytest.mark.parametrize("hours", [1, 24, 7 * 24])
def test_an_interval_with_a_first_time_has_it_and_goes_on_by_elapsed_time(start, tz, hours):
    cadence = parse(
        suggested(message_of(f"IntervalTrigger(hours={hours}, start_date='{start}', timezone='{tz}')"))
    )
    first = datetime.fromisoformat(start).replace(tzinfo=ZoneInfo(tz)).astimezone(UTC)
    assert [*cadence.between(FIRST_MINUTE, first + timedelta(hours=3 * hours))] == [
        first + n * timedelta(hours=hours) for n in range(4)
    ]


@for_each(
    ("text", "problem"),
    [
        ("CronTrigger(hour=h)", "APScheduler's trigger: hour: '(H)' is not one of its values"),
        ("crontab(hour=read())", "Celery's crontab: hour: '(READ())' is not one of its values"),
        ("IntervalTrigger(hours=1, start_date=begin)", "start_date: (begin) is no date and time"),
        ("IntervalTrigger(hours=1, start_date=datetime(2027, 13, 1))", "is no date and time"),
        ("IntervalTrigger(hours=1, start_date=datetime(2027, 1, 1, tzinfo=UTC))", "is no date and time"),
        ("IntervalTrigger(days=1, start_date='0001-01-01')", "start_date: 0001-01-01 is no date and time"),
        ("IntervalTrigger(days=1, start_date='2027-01-01', timezone='Mars/X')", "no time zone 'Mars/X'"),
        ("cron(61 9 ? * MON-FRI *)", "EventBridge's cron, which begins with the minute"),
        ("cron(0 9 ? * 8 *)", "day-of-week: 8 is out of range"),
        ("cron(0 9 ? * MON/2 *)", "what follows its three letters is ignored there"),
        ("cron(0 9 ? * MON *) dst=quartz", "dst: not a rule"),
        ("cron(0 9 ? * MON)", "there must be 6, and this has 5"),
        ("0 0 12 ? * 2 2027,2029", "the years do not follow each other"),
        ("0 0 12 ? * MONDAY-FRIDAY *", "what follows its three letters is ignored there"),
        ("crontab(minute=99)", "Celery's crontab: minute: 99 is out of range"),
        ("crontab(0, 0, month=2)", "Celery's crontab: month: no cadence has this option"),
        ("crontab(day_of_week=7)", "Celery's crontab: day-of-week: 7 is out of range"),
        ("CronTrigger(week=3)", "no cadence has the weeks of a year"),
        ("CronTrigger(day='2nd tue', day_of_week='mon')", "it counts weekdays beside other days"),
        ("IntervalTrigger(hours=1.5)", "interval: it has no whole numbers"),
        ("CronTrigger(year=2026, start_date='2027-03-01')", "end: it is before the start, 2027-03-01"),
        ("IntervalTrigger(jitter=5)", "jitter: no cadence has this option"),
        ("@Scheduled(fixedRate = 5000)", "Spring's annotation: cron: there is none"),
        ('@Scheduled(cron = "0 0 3 * * L")', "L needs a weekday before it"),
        ('@Scheduled(cron = "-")', "Spring's annotation: cron: there is none, since - disables it"),
        ('@Scheduled(cron = "${job.cron}")', "${job.cron}: it stands for a value that is not known here"),
        ('@Scheduled(cron = "0 0 3 * * *", zone = "${tz:UTC}")', "${tz:UTC}: it stands for a value"),
        ("H H(22-2) * * *", "Jenkins' hash of the job's name: H(22-2): its range runs backwards"),
        ("0 3,H(22-20) * * H", "H(22-20): its range runs backwards"),
        ("FREQ=DAILY", "iCalendar's RRULE: RRULE: DAILY needs BYMINUTE, or DTSTART"),
        ("FREQ=YEARLY;BYWEEKNO=20", "BYWEEKNO has no equivalent"),
        ("2027,2029-*-* 10:00:00", "its years do not follow each other"),
        ("H H 31 2 *", "no month ever has such a day"),
        ("TZ=Mars/X 0 3 * * *", "there is no time zone 'Mars/X'"),
        ("0 0 9 30W * ? *", "day: 30W of February is its last weekday there"),
        ("0 0 9 29w 1,FEB ? *", "day: 29w of February is its last weekday there"),
        ("0 0 9 15W,20 * ? *", "list: its documentation has no L, W or # in a list"),
        ("0 0 9 L-3,5 * ? *", "list: its documentation has no L, W or # in a list"),
        ("0 0 9 ? * TUE#4,THU *", "list: its documentation has no L, W or # in a list"),
        ("cron(0 9 ? * MON,6L *)", "list: its documentation has no L, W or # in a list"),
        ("CronTrigger(day_of_week='mon-fri/2', hour=18)", "what follows its three letters is ignored there"),
        ("CronTrigger(day_of_week='wed-0', hour=18)", "what follows its three letters is ignored there"),
        ("CronTrigger(day_of_week='0,fri-5', hour=18)", "what follows its three letters is ignored there"),
        ("CronTrigger(month='jan/2', day='1st mon')", "what follows its three letters is ignored there"),
        ("0 0 9 ? * 5L-2", "Quartz' cron, which counts weekdays from Sunday, 1: day-of-week: 5L means"),
        ("0 0 9 ? * L-2", "Quartz' cron, which counts weekdays from Sunday, 1: day-of-week: L means"),
        ("0 0 12 ? * 15W", "Quartz' cron, which counts weekdays from Sunday, 1: day-of-week: 15W means"),
        ("0 0 9 * * mo-fr", "day-of-week: 'MO' is not one of its values"),
        ("0 0 9 * * mon,L", "day-of-week: L needs a weekday before it"),
        ("0 9 * * * GMT+2 # nightly", "the zone follows the expression: there is no time zone 'GMT+2'"),
        ("0 9 * * * UTC+2", "the zone follows the expression: there is no time zone 'UTC+2'"),
        ("0 9 * * * CEST", "the zone follows the expression: there is no time zone 'CEST'"),
        ("0 9 * * * America/New_York /usr/bin/x", "has 5 or 6 fields, and this has 7"),
        ("0 9 * * * at noon", "has 5 or 6 fields, and this has 7"),
        ("@every 1.5h", "Go's spelling of an interval"),
        ("0 9 * * mon excluding holidays", "has 5 or 6 fields, and this has 7"),
        ("0 9 * * * paris", "day-of-week: 'PARIS' is not one of its values"),
        ("0 9 * * * local", "day-of-week: 'LOCA"),
        ('@Scheduled(cron = "0 0 9 * *")', "fields: there must be 6, and this has 5"),
        ("crontab(minute='53/4')", "Celery's crontab: 53/4: a step needs * or a range there"),
        ("crontab(0, '1,2/16')", "Celery's crontab: 2/16: a step needs * or a range there"),
        ("crontab(day_of_week='2/1')", "Celery's crontab: 2/1: a step needs * or a range there"),
        ("cron(0 9 1 * 2 *)", "days: one of the two day fields must be ?"),
        ("rate(1 minutes)", "unit: it is singular after 1, and plural after another number"),
        ("rate(5 minute)", "unit: it is singular after 1, and plural after another number"),
        ("schedule: '0 0 9 * * *'", "fields: there must be 5, and this has 6"),
        ("- cron: '0 9 L * *'", "days: L, W and # mean nothing there"),
        ("schedule: 'TZ=UTC 0 9 * * 5#1'", "days: L, W and # mean nothing there"),
        ("schedule: '@every 1d'", "unit: Go has no days and weeks"),
        ("cron: '@daily'", "macro: GitHub has none"),
        ("schedule: '0 3 * * 7'", "day-of-week: 7 is out of range"),
        ("schedule: '0 22-6 * * *'", "hour: 22-6 is a range that runs backwards, which is rejected there"),
        ("- cron: '0 9 * * FRI-MON'", "day-of-week: FRI-MON is a range that runs backwards"),
        ('@Scheduled(cron = "0 0 9 * * FRI-0")', "day-of-week: FRI-0 is a range that runs backwards"),
        ("H 22-6 * * *", "hour: 22-6 is a range that runs backwards"),
        ("CronTrigger(hour='22-6')", "hour: 22-6 is a range that runs backwards"),
        ("CronTrigger(day_of_week='fri-mon')", "day-of-week: FRI-MON is a range that runs backwards"),
        ("CronTrigger(minute='*/90')", "minute: the step of */90 is longer than its range"),
        ("CronTrigger(month='*/12')", "month: the step of */12 is longer than its range"),
        ("CronTrigger(minute='5-59/55')", "minute: the step of 5-59/55 is longer than its range"),
    ],
)
def test_what_cannot_be_translated_has_the_reason_of_its_language(text, problem):
    with pytest.raises(InvalidCadence) as caught:
        parse(text)
    assert problem in caught.value.problem
    assert 'write "' not in caught.value.remedy
    assert caught.value.remedy
