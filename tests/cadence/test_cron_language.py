"""The cron language: valid and invalid expressions, and error messages."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from duetime.cadence import AmbiguousDays, InvalidCadence, InvalidCron, NaiveInstant, NeverFires, cron
from duetime.errors import DuetimeError
from tests.cases import for_each

NOON = datetime(2026, 1, 15, 12, tzinfo=UTC)


def caret(refusal: InvalidCadence) -> str:
    """Return the part of the text above the carets."""
    _, shown, carets = str(refusal).split("\n")
    return shown[carets.index("^") : len(carets)]


@for_each(
    ("expression", "under", "message"),
    [
        ("", "", "empty"),
        ("   ", "   ", "empty"),
        ("* * * *", "* * * *", "this has 4"),
        ("* * * * * * *", "* * * * * * *", "this has 7"),
        ("60 * * * *", "60", "minute: 60 is out of range; use 0-59"),
        ("60 * * * * *", "60", "second: 60 is out of range"),
        ("0 24 * * *", "24", "hour: 24 is out of range; use 0-23"),
        ("0 0 0 * *", "0", "day-of-month: 0 is out of range; use 1-31"),
        ("0 0 32 * *", "32", "day-of-month: 32 is out of range"),
        ("0 0 * 13 *", "13", "month: 13 is out of range; use 1-12 or JAN-DEC"),
        ("0 0 * * 8", "8", "day-of-week: 8 is out of range; use 0-7 or SUN-SAT"),
        ("0 0 * JANUARY *", "JANUARY", "its three letters, JAN"),
        ("0 0 * * FOO", "FOO", "'FOO' is not one of its values"),
        ("-5 * * * *", "-5", "minute: a value is missing"),
        ("5- * * * *", "5-", "minute: a value is missing"),
        ("1,,2 * * * *", "1,,2", "minute: a value is missing"),
        ("*/0 * * * *", "*/0", "minute: 0 after the / is beyond the field's range; use 1-59"),
        ("*/60 * * * *", "*/60", "minute: 60 after the / is beyond"),
        ("0 */24 * * *", "*/24", "hour: 24 after the / is beyond the field's range; use 1-23"),
        ("0 0 */32 * *", "*/32", "day-of-month: 32 after the / is beyond"),
        ("0 0 * */13 *", "*/13", "month: 13 after the / is beyond"),
        ("*/ * * * *", "*/", "no step"),
        ("*/x * * * *", "*/x", "no step"),
        ("1-5/2/2 * * * *", "1-5/2/2", "no step"),
        ("*,5 * * * *", "*,5", "* already means every value"),
        ("0 L * * *", "L", "hour: L means nothing in this field"),
        ("L * * * *", "L", "minute: L means nothing in this field"),
        ("0 0 * L *", "L", "month: L means nothing in this field"),
        ("0 0 * * L", "L", "L needs a weekday before it"),
        ("0 0 * * #2", "#2", "# needs a weekday before it"),
        ("0 0 * * 15W", "15W", "15W means nothing in this field"),
        ("0 0 * * MON#6", "MON#6", "6 after # is no week of a month; use 1-5"),
        ("0 0 * * MON#0", "MON#0", "0 after # is no week"),
        ("0 0 * * MON#", "MON#", "nothing after # is no week"),
        ("0 0 L-31 * *", "L-31", "before the month begins; use L-0 to L-30"),
        ("0 0 W * *", "W", "a value is missing"),
        ("0 0 32W * *", "32W", "32 is out of range"),
        ("0 0 1-5W * *", "1-5W", "not one of its values"),
        ("@reboot", "@reboot", "names no time"),
        ("@fortnightly", "@fortnightly", "there is no @fortnightly"),
        ("٣ * * * *", "٣", "not an ASCII character"),
        ("1² * * * *", "²", "not an ASCII character"),
        ("5 * * * 1_0", "1_0", "not one of its values"),
        ("+5 * * * *", "+5", "not one of its values"),
        ("0x5 * * * *", "0x5", "not one of its values"),
        ("1.5 * * * *", "1.5", "not one of its values"),
        ("5 * * * * ; rm", "5 * * * * ; rm", "this has 7"),
    ],
)
def test_an_error_marks_the_mistake_and_names_the_remedy(expression, under, message):
    with pytest.raises(InvalidCron) as caught:
        cron(expression)

    assert message in str(caught.value)
    assert caret(caught.value) == under or not expression.strip()


@pytest.mark.parametrize(
    "expression", ["0 0 30 2 *", "0 0 31 2,4,6,9,11 *", "0 0 31W 2 *", "0 0 30-31 FEB ?"]
)
def test_a_date_that_never_comes_is_rejected(expression):
    with pytest.raises(NeverFires, match="no month ever has such a day") as caught:
        cron(expression)

    assert caret(caught.value) == expression.split()[2]


def test_dates_that_never_meet_a_weekday_are_rejected():
    with pytest.raises(NeverFires):
        cron("0 0 1-7 * FRI#2", day_rule="and")


def test_dates_that_meet_a_weekday_only_after_forty_years_are_found():
    leap_sundays = cron("0 0 29 2 SUN", day_rule="and")
    found = list(leap_sundays.between(datetime(2050, 1, 1, tzinfo=UTC), datetime(2130, 1, 1, tzinfo=UTC)))

    assert [at.year for at in found] == [2060, 2088, 2128]


@pytest.mark.parametrize("expression", ["0 0 13 * FRI", "0 0 */2 * 1-5", "0 0 L * MONL", "0 0 1-31 * 0-6"])
def test_two_restricted_day_fields_require_a_day_rule(expression):
    with pytest.raises(AmbiguousDays, match='give day_rule="and"') as caught:
        cron(expression)
    assert caret(caught.value).split() == expression.split()[2:]

    both, either = cron(expression, day_rule="and"), cron(expression, day_rule="or")
    assert both.next_after(NOON) >= either.next_after(NOON)


@pytest.mark.parametrize(
    "expression", ["0 0 13 * *", "0 0 13 * ?", "0 0 * * FRI", "0 0 ? * FRI", "0 0 ? * ?"]
)
def test_any_expression_accepts_a_day_rule(expression):
    plain = cron(expression)

    for rule in ("and", "or"):
        assert cron(expression, day_rule=rule).next_after(NOON) == plain.next_after(NOON)


def test_friday_the_thirteenth_is_one_of_both_and_crontabs_is_one_of_either():
    after = datetime(2026, 1, 15, tzinfo=UTC)

    assert cron("0 0 13 * FRI", day_rule="and").next_after(after) == datetime(2026, 2, 13, tzinfo=UTC)
    assert cron("0 0 13 * FRI", day_rule="or").next_after(after) == datetime(2026, 1, 16, tzinfo=UTC)


def test_an_unknown_day_rule_is_rejected():
    with pytest.raises(InvalidCadence, match="use and, or or"):
        cron("0 0 13 * FRI", day_rule="xor")


@pytest.mark.parametrize(
    ("written", "means"),
    [
        ("@yearly", "0 0 1 1 *"),
        ("@annually", "0 0 1 1 *"),
        ("@monthly", "0 0 1 * *"),
        ("@weekly", "0 0 * * 0"),
        ("@daily", "0 0 * * *"),
        ("@midnight", "0 0 * * *"),
        ("@Hourly", "0 * * * *"),
        ("0 22-2 * * *", "0 22,23,0,1,2 * * *"),
        ("0 22-2/2 * * *", "0 22,0,2 * * *"),
        ("45-15/10 * * * *", "45,55,5,15 * * * *"),
        ("0 0 * * FRI-MON", "0 0 * * 5,6,0,1"),
        ("0 0 * * FRI-7", "0 0 * * 5,6,0"),
        ("0 0 * * 7-2", "0 0 * * 0,1,2"),
        ("0 0 * * 1/2", "0 0 * * 1,3,5,7"),
        ("0 0 * NOV-FEB *", "0 0 * 11,12,1,2 *"),
        ("0 0 25-5 * *", "0 0 25-31,1-5 * *"),
        ("5/20 * * * *", "5,25,45 * * * *"),
        ("? ? ? ? ?", "* * * * *"),
        ("0 0 * * sun", "0 0 * * 7"),
        ("0 0 * jan,Feb mOn", "0 0 * 1,2 1"),
        ("  0\t0  1  *  * ", "0 0 1 * *"),
        ("0 0 0 1 * *", "0 0 1 * *"),
        ("00 00 01 * *", "0 0 1 * *"),
    ],
)
def test_two_spellings_of_one_expression_have_the_same_occurrences(written, means):
    one, other = cron(written), cron(means)
    at = NOON
    for _ in range(40):
        assert one.next_after(at) == other.next_after(at)
        at = one.next_after(at)


@pytest.mark.parametrize(
    ("expression", "days"),
    [
        ("0 0 L * *", ["01-31", "02-28", "03-31"]),
        ("0 0 L-3 * *", ["01-28", "02-25", "03-28"]),
        ("0 0 LW * *", ["01-30", "02-27", "03-31"]),
        ("0 0 1W * *", ["02-02", "03-02", "04-01"]),
        ("0 0 31W * *", ["01-30", "03-31", "05-29"]),
        ("0 0 L-28 * *", ["03-03", "04-02", "05-03"]),
        ("0 0 * * FRIL", ["01-30", "02-27", "03-27"]),
        ("0 0 * * 0L", ["01-25", "02-22", "03-29"]),
        ("0 0 * * MON#1,MON#3", ["01-19", "02-02", "02-16"]),
        ("0 0 * * SAT#5", ["01-31", "05-30", "08-29"]),
        ("0 0 1,L * *", ["01-31", "02-01", "02-28"]),
    ],
)
def test_the_special_items_are_the_days_that_a_calendar_shows(expression, days):
    found = []
    at = NOON
    while len(found) < 3:
        at = cron(expression).next_after(at)
        found.append(f"{at:%m-%d}")

    assert found == days


def test_the_weekday_nearest_to_a_saturday_the_first_is_monday_the_third():
    july = datetime(2026, 7, 31, 12, tzinfo=UTC)

    assert cron("0 0 1W * *").next_after(july) == datetime(2026, 8, 3, tzinfo=UTC)


def test_ten_thousand_items_are_rejected_with_a_short_message():
    with pytest.raises(InvalidCron, match="characters are no cron expression") as caught:
        cron(",".join(["1"] * 10_000) + " * * * *")
    assert len(str(caught.value)) < 500

    with pytest.raises(InvalidCron, match="a list of 100 items"):
        cron(",".join(["1"] * 100) + " * * * *")


def test_a_long_but_valid_list_is_accepted():
    everything = ",".join(str(n) for n in range(60))

    assert cron(f"{everything} * * * *").next_after(NOON) == NOON + timedelta(minutes=1)


def test_an_error_is_a_duetime_error_and_a_value_error_with_its_parts():
    with pytest.raises(InvalidCron) as caught:
        cron("0 99 * * *")
    refusal = caught.value

    assert isinstance(refusal, DuetimeError)
    assert isinstance(refusal, ValueError)
    assert (refusal.text, refusal.start, refusal.width) == ("0 99 * * *", 2, 2)
    assert refusal.remedy == "use 0-23"


def test_a_datetime_without_a_zone_is_no_instant():
    with pytest.raises(NaiveInstant, match="has no time zone"):
        cron("* * * * *").next_after(datetime(2026, 1, 1))
    with pytest.raises(NaiveInstant):
        list(cron("* * * * *").between(NOON, datetime(2026, 1, 1)))


@pytest.mark.parametrize(
    "option", [{"dst": "quartz"}, {"days": "noday"}, {"months": "13"}, {"weeks": "sixth"}, {"window": "9"}]
)
def test_an_invalid_option_is_rejected_by_its_name(option):
    with pytest.raises(InvalidCadence, match=f"^{next(iter(option))}: "):
        cron("* * * * *", **option)
