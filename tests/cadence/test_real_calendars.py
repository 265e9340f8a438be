"""Rules as Google Calendar, Outlook and Apple's calendar write them, against the rules of python-dateutil.

dateutil reads neither a date as ``EXDATE`` nor Windows' zones, so those are written out for it.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import islice
from zoneinfo import ZoneInfo, available_timezones

import pytest
from dateutil.rrule import rrulestr
from hypothesis import given
from hypothesis import strategies as st

from duetime.cadence import InvalidCadence, from_rrule, parse
from duetime.cadence.zone_names import WINDOWS_ZONES
from tests.cases import for_each

PARIS = ZoneInfo("Europe/Paris")
AT = "DTSTART:20270104T093000Z\nRRULE:"
START = datetime(2027, 1, 4, 9, 30, tzinfo=UTC)
SECOND = timedelta(seconds=1)
OUTLOOK = """BEGIN:VCALENDAR
PRODID:-//Microsoft Corporation//Outlook 16.0 MIMEDIR//EN
BEGIN:VTIMEZONE
TZID:Romance Standard Time
BEGIN:STANDARD
DTSTART:16011028T030000
RRULE:FREQ=YEARLY;BYDAY=-1SU;BYMONTH=10
END:STANDARD
END:VTIMEZONE
BEGIN:VEVENT
DTSTAMP:20270101T000000Z
DTSTART;TZID="Romance Standard Time":20270104T093000
DTEND;TZID="Romance Standard Time":20270104T100000
RRULE:FREQ=MONTHLY;UNTIL=20270630T073000Z;BYDAY=MO,TU,WE,TH,FR;
 BYSETPOS=-1
SUMMARY:Month's end
UID:1
BEGIN:VALARM
TRIGGER:-PT15M
DTSTART:20200101T000000Z
END:VALARM
END:VEVENT
END:VCALENDAR
"""
GOOGLE = """BEGIN:VEVENT
DTSTART;TZID=Europe/Paris:20270104T093000
RRULE:FREQ=WEEKLY;UNTIL=20270131;BYDAY=MO
EXDATE;TZID=Europe/Paris:20270111T093000
SUMMARY:Weekly
END:VEVENT"""


def of_cadence(cadence, count=60):
    found, at = [], START.replace(hour=0)
    while len(found) < count and (at := cadence.next_after(at)) is not None:
        found.append(at)
    return found


def of_dateutil(text, count=60):
    return [*islice(rrulestr(text, forceset=True).xafter(START.replace(hour=0)), count)]


def test_an_event_of_outlook_is_read():
    days = ["2027-01-29", "2027-02-26", "2027-03-31", "2027-04-30", "2027-05-31", "2027-06-30"]
    expected = [datetime.fromisoformat(f"{day}T09:30").replace(tzinfo=PARIS) for day in days]
    assert of_cadence(from_rrule(OUTLOOK)) == expected
    assert of_cadence(from_rrule(OUTLOOK.replace("\n", "\r\n"))) == expected
    with pytest.raises(InvalidCadence) as caught:
        parse(OUTLOOK)
    assert caught.value.problem == "this is iCalendar's RRULE"


def test_an_event_of_google_is_read():
    found = of_cadence(from_rrule(GOOGLE))
    assert [at.astimezone(PARIS).strftime("%m-%d %H:%M") for at in found] == [
        "01-04 09:30",
        "01-18 09:30",
        "01-25 09:30",
    ]


@pytest.mark.parametrize(
    ("text", "tz", "expected"),
    [
        (
            "BEGIN:VEVENT\nDTSTART;TZID=Europe/Paris:20270104T093000\nSUMMARY:One\nEND:VEVENT",
            None,
            "once 2027-01-04T09:30 tz=Europe/Paris",
        ),
        ("DTSTART:20270104T093000Z", "Europe/Paris", "once 2027-01-04T09:30 tz=UTC"),
        ("DTSTART:20270104T093005", "Asia/Tokyo", "once 2027-01-04T09:30:05 tz=Asia/Tokyo"),
        ("DTSTART;VALUE=DATE:20270104", None, "once 2027-01-04T00:00"),
    ],
)
def test_a_start_without_a_rule_is_one_time(text, tz, expected):
    assert from_rrule(text, tz=tz).text == expected


def test_several_events_are_rejected():
    with pytest.raises(InvalidCadence, match="occurs several times"):
        from_rrule(f"{GOOGLE}\n{GOOGLE}")


def test_a_line_on_the_shell_is_read():
    line = "DTSTART;TZID=W. Europe Standard Time:20270104T093000 RRULE:FREQ=DAILY EXDATE;VALUE=DATE:20270105"
    cadence = from_rrule(line)
    assert cadence.tz == "Europe/Berlin"
    assert [at.day for at in of_cadence(cadence, count=3)] == [4, 6, 7]


@for_each(("name", "zone"), WINDOWS_ZONES.items())
def test_each_zone_of_windows_is_one_of_iana(name, zone):
    assert zone in available_timezones()
    written = f'DTSTART;TZID="{name}":20270104T093000\nRRULE:FREQ=DAILY'
    assert from_rrule(written).tz == zone


def test_a_date_as_until_includes_its_day():
    assert [at.day for at in of_cadence(from_rrule(f"{AT}FREQ=DAILY;UNTIL=20270106"))] == [4, 5, 6]


@pytest.mark.parametrize(
    "rule", ["FREQ=DAILY", "FREQ=DAILY;COUNT=4", "FREQ=DAILY;BYHOUR=9,17", "FREQ=DAILY;BYHOUR=9,17;COUNT=7"]
)
def test_a_date_as_exdate_excludes_each_time_of_its_day(rule):
    hours = (9, 17) if "BYHOUR" in rule else (9,)
    single = ",".join(f"202701{day:02}T{hour:02}3000Z" for day in (5, 6) for hour in hours)
    expected = of_dateutil(f"{AT}{rule}\nEXDATE:{single}")
    assert of_cadence(from_rrule(f"{AT}{rule}\nEXDATE;VALUE=DATE:20270105,20270106")) == expected


codes = ["MO", "TU", "WE", "TH", "FR", "SA", "SU"]
weekdays = st.lists(st.sampled_from(codes), min_size=1, max_size=7, unique=True).map(",".join)
positions = st.lists(st.sampled_from([1, 2, 3, -1, -2]), min_size=1, max_size=2, unique=True)


@given(
    weekdays,
    positions.map(lambda found: ",".join(map(str, found))),
    st.sampled_from(
        ["FREQ=MONTHLY", "FREQ=MONTHLY;BYMONTH=2,5", "FREQ=YEARLY;BYMONTH=3", "FREQ=MONTHLY;INTERVAL=2"]
    ),
)
def test_positions_among_weekdays_are_those_of_dateutil(days, chosen, frequency):
    text = f"{AT}{frequency};BYDAY={days};BYSETPOS={chosen}"
    cadence = from_rrule(text)
    assert of_cadence(cadence, count=25) == of_dateutil(text, 25)
    assert parse(cadence.text) == cadence


@pytest.mark.parametrize("last", [29, 30, 31])
def test_the_last_of_some_dates_is_the_day_that_stands_in(last):
    dates = ",".join(map(str, range(28, last + 1)))
    text = f"{AT}FREQ=MONTHLY;BYMONTHDAY={dates};BYSETPOS=-1"
    assert of_cadence(from_rrule(text)) == of_dateutil(text)
    assert f"{last}-or-last" in from_rrule(text).text


LONG_NAMES = {
    "(UTC+01:00) Amsterdam, Berlin, Bern, Rome, Stockholm, Vienna": "Europe/Amsterdam",
    "(UTC+01:00) Amsterdam, Berlin, Bern, Rom, Stockholm, Wien": "Europe/Amsterdam",
    "(GMT+01.00) Sarajevo/Warsaw/Zagreb": "Europe/Sarajevo",
    "(UTC-05:00) Eastern Time (US & Canada)": "America/New_York",
    "(UTC-03:00) Brasilia": "America/Sao_Paulo",
    "(UTC+08:00) Beijing, Chongqing, Hong Kong, Urumqi": "Asia/Chongqing",
    "(UTC-04:00) Georgetown, La Paz, Manaus, San Juan": "America/La_Paz",
    "(UTC-03:30) Newfoundland": "America/St_Johns",
    "(UTC+13:00) Samoa": "Pacific/Apia",
    "(UTC+10:30) Lord Howe Island": "Australia/Lord_Howe",
    "(UTC+06:30) Yangon (Rangoon)": "Asia/Yangon",
    "(UTC-05:00) Indiana (East)": "America/Indianapolis",
    "(UTC) Coordinated Universal Time": "UTC",
    "(UTC-02:00) Coordinated Universal Time-02": "Etc/GMT+2",
    "(UTC) Dublin, Edinburgh, Lisbon, London": "Europe/Dublin",
}


@for_each("name", LONG_NAMES)
@for_each("quote", ["", '"'])
def test_a_long_name_of_a_zone_is_read_by_its_first_known_place(name, quote):
    written = f"DTSTART;TZID={quote}{name}{quote}:20270104T093000\nRRULE:FREQ=DAILY"
    assert from_rrule(written).tz == LONG_NAMES[name]


@pytest.mark.parametrize("name", ["(UTC+01:00) Nowhere", "(UTC+05:00) Berlin"])
def test_a_long_name_without_a_zone_of_its_offset_is_rejected(name):
    with pytest.raises(InvalidCadence, match="there is no time zone"):
        from_rrule(f'DTSTART;TZID="{name}":20270104T093000\nRRULE:FREQ=DAILY')


@pytest.mark.parametrize(
    "text",
    [
        GOOGLE.replace("SUMMARY:Weekly", "DESCRIPTION:see RRULE:FREQ=DAILY and\n  EXDATE:1 BEGIN:VEVENT"),
        " ".join(GOOGLE.splitlines()),
    ],
)
def test_words_of_a_description_are_no_lines(text):
    assert from_rrule(text) == from_rrule(GOOGLE)


@pytest.mark.parametrize("rule", ["FREQ=MINUTELY;BYHOUR=9,10", "FREQ=HOURLY;BYMINUTE=0,20,40"])
def test_dates_with_many_times_are_a_calendar(rule):
    dates = ["20270105", "20270107", "20270108"]
    cadence = from_rrule(f"{AT}{rule}\nEXDATE;VALUE=DATE:{','.join(dates)}")
    assert cadence.modifiers.calendar.exclude == ("2027-01-05", "2027-01-07", "2027-01-08")
    every = of_cadence(from_rrule(f"{AT}{rule}"), count=1_000)
    expected = [at for at in every if f"{at:%Y%m%d}" not in dates]
    assert of_cadence(cadence, count=len(expected)) == expected


@pytest.mark.parametrize(
    "rule",
    [
        "BYMONTH=2",
        "BYMONTH=2,3",
        "BYMONTH=2;BYDAY=MO",
        "BYMONTH=2;BYDAY=2MO,2TU",
        "BYMONTH=1;BYDAY=-1FR",
        "BYMONTH=2;BYMONTHDAY=-1",
        "BYMONTH=2;BYMONTHDAY=5,6,7;BYDAY=FR",
    ],
)
@pytest.mark.parametrize("interval", [2, 3])
def test_every_nth_year_has_the_days_of_a_month(rule, interval):
    text = f"{AT}FREQ=YEARLY;INTERVAL={interval};{rule}"
    assert of_cadence(from_rrule(text), count=12) == of_dateutil(text, 12)


def test_a_cancelled_event_is_rejected():
    event = "BEGIN:VEVENT\nDTSTART:20270104T090000Z\nRRULE:FREQ=DAILY\nSTATUS:{}\nEND:VEVENT"
    assert from_rrule(event.format("CONFIRMED")).text == "cron 0 9 * * * start=2027-01-04T09:00 tz=UTC"
    with pytest.raises(InvalidCadence, match="STATUS has no equivalent; leave a cancelled event out"):
        from_rrule(event.format("CANCELLED"))
