"""Names, texts and descriptions of cadences."""

from __future__ import annotations

import copy
import pickle
import re
from datetime import UTC, datetime

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from duetime.cadence import (
    Calendar,
    InvalidCadence,
    cron,
    daily,
    every,
    interval,
    manual,
    monthly,
    nth_weekday,
    on_event,
    once,
    parse,
    weekly,
)
from tests.cadence.strategies import CHANGING, expressions
from tests.cases import for_each

NOON = datetime(2026, 1, 15, 12, tzinfo=UTC)
HOLIDAYS = Calendar(exclude=["2026-12-25", "01-01", "sun"], instead="next_business_day", name="fr")

WRITTEN = [
    (cron("30  2 * * mon-fri"), "cron 30 2 * * MON-FRI", "Cron_30_2_x_x_mon-fri"),
    (cron("*/5 9-17 * * *"), "cron */5 9-17 * * *", "Cron_every5_9-17_x_x_x"),
    (cron("0 0 13 * FRI", day_rule="and"), "cron 0 0 13 * FRI day_rule=and", "Cron_0_0_13_x_fri_and"),
    (cron("@Daily"), "cron @daily", "Cron_daily"),
    (cron("30 2 * * *", dst="vixie"), "cron 30 2 * * * dst=vixie", "Cron_30_2_x_x_x_vixie"),
    (daily("09:00"), "daily 09:00", "Daily_09_00"),
    (daily("9:00:30"), "daily 09:00:30", "Daily_09_00_30"),
    (daily("09:00", days="mon-fri"), "daily 09:00 days=mon-fri", "Daily_09_00_mon-fri"),
    (daily("09:00", tz="Europe/Paris"), "daily 09:00 tz=Europe/Paris", "Daily_09_00_Europe_Paris"),
    (daily("09:00", calendar=HOLIDAYS), None, "Daily_09_00_cal-fr-3c72c606"),
    (every(minutes=10), "every 10m", "Every_10m"),
    (every(minutes=90), "every 1h30m", "Every_1h30m"),
    (every(minutes=10, window=("09:00", "17:00")), "every 10m window=09:00-17:00", "Every_10m_0900-1700"),
    (every(days=2, anchor="2026-01-05"), "every 2d anchor=2026-01-05", "Every_2d_2026-01-05"),
    (weekly("fri,mon", "06:00"), "weekly mon,fri 06:00", "Weekly_mon.fri_06_00"),
    (
        weekly("mon", "06:00", every=2, anchor="2026-01-05"),
        "weekly mon 06:00 every=2 anchor=2026-01-05",
        "Weekly_mon_06_00_every2_2026-01-05",
    ),
    (monthly("1,last", "00:30"), "monthly 1,last 00:30", "Monthly_1.last_00_30"),
    (nth_weekday("first", "mon", "06:00"), "nth_weekday first mon 06:00", "NthWeekday_first_mon_06_00"),
    (once("2027-06-01 09:00"), "once 2027-06-01T09:00", "Once_2027-06-01_09_00"),
    (interval(minutes=7), "interval 7m", "Interval_7m"),
    (interval(minutes=7).starting(NOON), "interval 7m start=2026-01-15T12:00:00Z", "Interval_7m"),
    (on_event("orders", "OrderPlaced"), "on_event orders OrderPlaced", "OnEvent_orders_OrderPlaced"),
    (
        on_event("orders", "Placed", match={"kind": ["gift"]}),
        'on_event orders Placed match={"kind":["gift"]}',
        "OnEvent_orders_Placed_aa129a3e",
    ),
    (
        on_event("orders", "Placed", tenant="detail.tenant_id"),
        "on_event orders Placed tenant=detail.tenant_id",
        "OnEvent_orders_Placed_b1ab5473",
    ),
    (
        on_event("orders", "Placed", tenant="detail.tenant_id", no_tenant="refuse"),
        "on_event orders Placed tenant=detail.tenant_id no_tenant=refuse",
        "OnEvent_orders_Placed_a5362303",
    ),
    (
        on_event("orders", "Placed", tenant="detail.tenant_id", match={"kind": ["gift"]}),
        'on_event orders Placed match={"kind":["gift"]} tenant=detail.tenant_id',
        "OnEvent_orders_Placed_11419115",
    ),
    (manual(), "manual", "Manual"),
]


@pytest.mark.parametrize(("cadence", "text", "name"), WRITTEN, ids=[name for _, _, name in WRITTEN])
def test_a_cadence_has_one_text_and_one_name_and_is_read_back_from_its_text(cadence, text, name):
    assert cadence.name == name
    assert text is None or str(cadence) == cadence.text == text
    assert parse(cadence.text) == cadence
    assert parse(cadence.text).name == name
    assert hash(parse(cadence.text)) == hash(cadence)
    assert pickle.loads(pickle.dumps(cadence)) == cadence == copy.deepcopy(cadence)  # noqa: S301 - our own
    assert parse(cadence.text).next_after(NOON) == cadence.next_after(NOON)


def test_no_two_cadences_share_a_name_or_are_equal():
    cadences = [cadence for cadence, _, name in WRITTEN if name != "Interval_7m"]

    assert len({cadence.name for cadence in cadences}) == len(cadences)
    assert len(set(cadences)) == len(cadences)


def test_a_default_zone_is_part_of_the_text_but_not_of_the_name():
    plain = daily("09:00")
    in_tokyo = plain.with_default_tz("Asia/Tokyo")

    assert in_tokyo.text == "daily 09:00 default_tz=Asia/Tokyo"
    assert parse(in_tokyo.text) == in_tokyo != plain
    assert in_tokyo.name == plain.name == "Daily_09_00"
    assert daily("09:00", tz="Asia/Tokyo").name != plain.name


def test_a_shortened_name_is_still_unique():
    long = "1,3,7,11,13,17,19,23,29,31,37,41,43,47,53,59"
    one, other = cron(f"{long} 1 * * *"), cron(f"{long} 2 * * *")

    assert len(one.name) <= 64
    assert one.name != other.name


@pytest.mark.parametrize(
    "written",
    [
        "30 2 * * *",
        "CRON 30 2 * * *",
        "daily  09:00   days=weekdays",
        "once 2027-06-01 09:00 tz=Europe/Paris",
        "nth-weekday 1 mon 06:00",
        "every 120m",
        'on_event "a\\u0020b" c',
        "daily 09:00 calendar=exclude:sat,2026-12-25;instead:next_business_day",
        "every 10m days=mon window=22:00-02:00 tz=Asia/Tokyo dst=eventbridge",
    ],
)
def test_loose_spellings_are_accepted(written):
    cadence = parse(written)

    assert parse(cadence.text) == cadence


@for_each(
    ("written", "under", "message"),
    [
        ("", "", "empty"),
        ("evry 5m", "evry", "there is no cadence 'evry'"),
        ("daily", "daily", "daily takes 1 word, not 0"),
        ("daily 09:00 10:00", "daily 09:00 10:00", "daily takes 1 word, not 2"),
        ("daily 25:00", "25:00", "no time of day"),
        ("daily 09:00 tz=Mars/X", "Mars/X", "no time zone"),
        ("daily 09:00 colour=red", "colour=red", "it takes no colour=red"),
        ("daily 09:00 days=mon days=tue", "days=tue", "given twice"),
        ("daily 09:00 days=mox", "mox", "not one of its words"),
        ("daily 09:00 days=", "days=", "it takes no days="),
        ("daily 09:00 dst=quartz", "quartz", "not a rule"),
        ("daily 09:00 calendar=exclude:2026-13-01", "2026-13-01", "no such day"),
        ("daily 09:00 calendar=silence:sat", "silence:sat", "not a part of a calendar"),
        ("every 0m", "0m", "takes no time"),
        ("every ten", "ten", "no length of time"),
        ("every 10m window=09:00", "09:00", "a start and an end"),
        ("every 10m window=09:01-09:09", "09:01-09:09", "never opens"),
        ("weekly mon 06:00 every=2", "every=2", "give anchor="),
        ("weekly mon 06:00 every=two", "two", "not a number"),
        ("weekly mon 06:00 every=2 anchor=soon", "soon", "no such date"),
        ("monthly 32 00:00", "32", "out of range"),
        ("interval 7m start=soon", "soon", "not an instant"),
        ("interval 7m start=2026-01-01T00:00:00", "2026-01-01T00:00:00", "has no zone"),
        ("interval 7m dst=vixie", "dst=vixie", "it takes no dst=vixie"),
        ("once 2027-02-30T09:00", "2027-02-30T09:00", "no such date"),
        ("on_event orders", "on_event orders", "on_event takes 2 words, not 1"),
        ("on_event orders OrderPlaced match={", "{", "not JSON"),
        ("on_event orders OrderPlaced tenant=detail..id", "detail..id", "tenant is no path"),
        ("on_event orders OrderPlaced tenant=id no_tenant=drop", "drop", "no such rule for no_tenant"),
        ("on_event orders OrderPlaced no_tenant=refuse", "refuse", "given without tenant"),
        ("manual now", "manual now", "manual takes 0 words, not 1"),
        ("61 * * * *", "61", "minute: 61 is out of range"),
        ("cron 61 * * * * tz=Europe/Paris", "61", "minute: 61 is out of range"),
        ("0 0 13 * FRI", "13 * FRI", "both restricted"),
    ],
)
def test_an_error_marks_the_mistake_in_the_text(written, under, message):
    with pytest.raises(InvalidCadence) as caught:
        parse(written)
    _, shown, carets = str(caught.value).split("\n")

    assert message in str(caught.value)
    assert shown[carets.index("^") : len(carets)] == under or not written


@for_each(
    ("cadence", "english"),
    [
        (cron("30 2 * * *", tz="Europe/Paris"), "at 02:30 every day, Europe/Paris time"),
        (cron("* * * * *"), "every minute, UTC"),
        (cron("*/5 * * * *"), "every 5 minutes, UTC"),
        (cron("3/5 * * * *"), "every 5 minutes from minute 3, UTC"),
        (cron("*/20 * * * * *"), "every 20 seconds, UTC"),
        (cron("30 * * * * *"), "at second 30 of every minute, UTC"),
        (cron("15 * * * *"), "at minute 15 past every hour, UTC"),
        (cron("*/5 9-17 * * MON-FRI"), "every 5 minutes, from 09:00 to 17:59, on Monday to Friday, UTC"),
        (cron("0 */6 * * *"), "at 00:00, 06:00, 12:00 and 18:00 every day, UTC"),
        (cron("0,10,20 */2 * * *"), "at minutes 0, 10 and 20 past the hour, every 2 hours, UTC"),
        (cron("0 0 1,L * *"), "at 00:00, on day 1 and the last day of the month, UTC"),
        (cron("0 0 15W * *"), "at 00:00, on the weekday nearest to day 15 of the month, UTC"),
        (cron("0 0 LW * *"), "at 00:00, on the last weekday of the month, UTC"),
        (cron("0 0 L-3 * *"), "at 00:00, on the day 3 days before the last day of the month, UTC"),
        (cron("0 0 13 * FRI", day_rule="and"), "at 00:00, on day 13 of the month if it falls on Friday, UTC"),
        (cron("0 0 13 * FRI", day_rule="or"), "at 00:00, on day 13 of the month or on Friday, UTC"),
        (cron("0 8 * * MON#1"), "at 08:00, on the first Monday of the month, UTC"),
        (
            daily("09:00", days="mon-fri", months="jun-aug"),
            "each day at 09:00, on Monday to Friday, in June to August, UTC",
        ),
        (every(minutes=10, window=("09:00", "17:00")), "every 10 minutes, from 09:00 to 17:00, UTC"),
        (every(minutes=7), "every 7 minutes from midnight, the last stretch of each day being shorter, UTC"),
        (
            weekly("mon,fri", "06:00", every=2, anchor="2026-01-05"),
            "every 2 weeks, counted from 2026-01-05, on Monday and Friday at 06:00, UTC",
        ),
        (
            monthly("1,15w,last", "00:30"),
            "every month on day 1, the last day and the weekday nearest to day 15 at 00:30, UTC",
        ),
        (nth_weekday("first,last", "mon", "06:00"), "every month on the first and last Monday at 06:00, UTC"),
        (once("2027-06-01 09:00", tz="Europe/Paris"), "once, at 2027-06-01 09:00, Europe/Paris time"),
        (interval(minutes=7), "every 7 minutes of elapsed time"),
        (interval(hours=1), "every hour of elapsed time"),
        (on_event("orders", "OrderPlaced"), "on each event OrderPlaced from orders"),
        (
            on_event("orders", "OrderPlaced", tenant="detail.tenant_id", no_tenant="refuse"),
            "on each event OrderPlaced from orders, for the tenant in detail.tenant_id, refused without one",
        ),
        (manual(), "only when it is triggered"),
    ],
)
def test_a_cadence_reads_as_english(cadence, english):
    assert cadence.describe() == english


@given(
    expression=expressions,
    tz=st.none() | st.sampled_from(CHANGING),
    dst=st.sampled_from(["cronos", "vixie", "eventbridge"]),
    day_rule=st.sampled_from(["and", "or"]),
    days=st.none() | st.sampled_from(["mon-fri", "sun", "fri-mon,wed"]),
    window=st.none() | st.sampled_from([("00:00", "23:59"), ("22:00", "06:00")]),
)
def test_every_cron_has_a_text_a_name_and_a_sentence(expression, **options):
    try:
        cadence = cron(expression, **options)
    except InvalidCadence:
        assume(False)

    assert parse(cadence.text) == cadence
    assert re.fullmatch(r"Cron_[A-Za-z0-9_.-]{1,59}", cadence.name)
    assert cadence.describe()


PLACED = on_event("orders", "Placed", tenant="detail.buyer.tenant_id")


@pytest.mark.parametrize(
    ("event", "tenant"),
    [
        ({"detail": {"buyer": {"tenant_id": "acme"}}}, "acme"),
        ({"detail": {"buyer": {"tenant_id": ""}}}, None),
        ({"detail": {"buyer": {"tenant_id": 7}}}, None),
        ({"detail": {"buyer": {}}}, None),
        ({"detail": {"buyer": "acme"}}, None),
        ({"detail": None}, None),
        ({}, None),
    ],
    ids=str,
)
def test_an_events_tenant_is_the_text_at_its_path(event, tenant):
    assert PLACED.tenant_of(event) == tenant
    assert on_event("orders", "Placed").tenant_of(event) is None


def test_the_path_of_the_tenant_changes_no_pattern():
    assert PLACED.pattern() == on_event("orders", "Placed").pattern()


def test_the_rules_of_a_calendar_are_part_of_the_name():
    rules = ({}, {"instead": "next_business_day"}, {"weekend": ["fri"]}, {"working": ["2027-01-02"]})
    calendars = [Calendar(exclude=["12-25"], name="de", **rule) for rule in rules]
    names = [daily("09:00", calendar=calendar).name for calendar in calendars]
    assert names[0] == "Daily_09_00_cal-de"
    assert len({*names}) == len(rules)
