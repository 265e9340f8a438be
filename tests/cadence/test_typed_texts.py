"""What people type instead of a cadence's text: the nearest cadence is the remedy."""

from __future__ import annotations

import re
from csv import DictReader
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duetime.cadence import InvalidCadence, parse
from tests.cases import for_each

TYPED = {
    "every weekday at 9": "weekly mon-fri 09:00",
    "every weekday at 9am": "weekly mon-fri 09:00",
    "first monday of the month": "nth_weekday first mon 09:00",
    "last friday of the month at 17:00": "nth_weekday last fri 17:00",
    "last business day 17:00": "business_day last 17:00",
    "daily 9:00 Europe/Paris": "daily 09:00 tz=Europe/Paris",
    "daily 9:00 EST": "daily 09:00 tz=EST",
    "every day at 9:00 CET": "daily 09:00 tz=CET",
    "09:00": "daily 09:00",
    "9:00": "daily 09:00",
    "PT5M": "interval 5m",
    "30th or last day 09:00": "monthly 30-or-last 09:00",
    "monthly on the 31st or the last day at 17:00": "monthly 31-or-last 17:00",
    "2027-01-01T09:00Z": "once 2027-01-01T09:00Z",
    "2027-01-01T09:00+02:00": "once 2027-01-01T09:00+02:00",
    "P1D": "interval 1d",
    "PT1H30M": "interval 1h30m",
    "every 5 minutes": "every 5m",
    "every 7 minutes": "interval 7m",
    "every 10 min": "every 10m",
    "every hour": "every 1h",
    "every day at 9:30": "daily 09:30",
    "every day at midnight": "daily 00:00",
    "every monday": "weekly mon 09:00",
    "mondays at 10": "weekly mon 10:00",
    "every monday and thursday at 8:15": "weekly mon,thu 08:15",
    "tuesdays and thursdays at noon": "weekly tue,thu 12:00",
    "monthly on the 1st": "monthly 1 09:00",
    "1st of the month": "monthly 1 09:00",
    "last day of the month": "monthly last 09:00",
    "last day of the month at 23:59": "monthly last 23:59",
    "every 2 hours": "every 2h",
    "every 90 seconds": "interval 1m30s",
    "every 2 weeks": "weekly mon 09:00 every=2 anchor=2027-01-04",
    "every other monday at 9": "weekly mon 09:00 every=2 anchor=2027-01-04",
    "every 3 days": "every 3d at=09:00 anchor=2027-01-04",
    "every 3 months": "monthly 1 09:00 every=3 anchor=2027-01-04",
    "every quarter": "monthly 1 09:00 months=jan,apr,jul,oct",
    "december 25": "monthly 25 09:00 months=dec",
    "25 december at 8:00": "monthly 25 08:00 months=dec",
    "every year": "yearly 01-01 09:00",
    "noon": "daily 12:00",
    "midnight": "daily 00:00",
    "9am": "daily 09:00",
    "5pm": "daily 17:00",
    "at 9": "daily 09:00",
    "9:00 Europe/Paris": "daily 09:00 tz=Europe/Paris",
    "weekdays 18:00": "weekly mon-fri 18:00",
    "weekends at 10": "weekly sat,sun 10:00",
    "every 15 minutes between 9 and 17": "every 15m window=09:00-17:00",
    "every 15 minutes on weekdays from 9:00 to 17:30": "every 15m days=mon-fri window=09:00-17:30",
    "5 minutes": "every 5m",
    "3rd business day at 10:00": "business_day 3 10:00",
    "first working day of the month": "business_day 1 09:00",
    "last weekday of the month": "business_day last 09:00",
    "second tuesday of each month at 8pm": "nth_weekday second tue 20:00",
    "every sunday at 3am UTC": "weekly sun 03:00 tz=UTC",
    "every minute": "every 1m",
    "monthly": "monthly 1 09:00",
    "daily": "daily 09:00",
    "weekly": "weekly mon 09:00",
    "once a day": "daily 09:00",
    "nightly": "daily 00:00",
    "monday to friday at 9": "weekly mon-fri 09:00",
    "first and third monday of the month at 10:00": "nth_weekday first,third mon 10:00",
    "every business day at 9": "daily 09:00 days=mon-fri",
    "friday 17h": "weekly fri 17:00",
    "mondays 9h": "weekly mon 09:00",
    "every weekday 18h": "weekly mon-fri 18:00",
    "every day 9h": "daily 09:00",
    "every 1h30": "interval 1h30m",
    "at 1h30": "daily 01:30",
    "every 2h on monday": "every 2h days=mon",
    "09:00,17:00": "daily 09:00,17:00",
    "mon-fri 09:00,17:00": "weekly mon-fri 09:00,17:00",
}
with (Path(__file__).parent / "data" / "typed.csv").open(newline="") as file:
    TYPED |= {row["text"]: row["cadence"] for row in DictReader(file, delimiter=";")}
MILLISECONDS = [
    f"{before}{n}{blank}{unit}"
    for before in ("", "every ", "interval ", "each 5 minutes and ")
    for n, blank in ((100, ""), (500, " "), (1500, ""))
    for unit in ("ms", "us", "ns", "msec", "millis", "milliseconds", "microseconds", "nanosecond")
]
NO_CADENCE = [
    "every",
    "in 5 minutes",
    "in 2 hours",
    "next monday at 9",
    "once at noon",
    "jan 1 and jul 4",
    "every year on jan 1 and jul 4",
    "friday the 13th",
    "5 minutes after midnight",
    "every 5 minutes at 9",
    "every 2 quarters",
    "PT0S",
    "P0D",
    "P1M1D",
    "every 25:00",
    "at 31",
    "tomorrow at 9",
    "daily 09:00 and then weekly on the moon",
    "every second fortnight",
    "every 0 minutes",
    "P",
    "PT",
    "first of never",
    "second to last friday of the month",
    "penultimate friday",
    "second last monday",
    "third last friday",
    "every monday at 9 and tuesday at 10",
    "mon-thu 9:00, fri 8:00",
    "monday 9, tuesday 10",
    "weekends at 10 and weekdays at 8",
    "9:00 on monday and 17:00 on friday",
    "every day at 9 and every monday at 10",
    "every day at 9 in the morning and at 5 in the evening",
    "every monday and first of month",
    "first of the month and every monday",
    "1st and every friday of the month",
    "first monday and third tuesday of the month",
    "mondays and last day of month",
    "every business day and the 1st",
    "R5/PT1H",
    "mon-fri 9-17",
    "mon-fri 09-17",
    "Mon..Fri 9-17",
    "9-17",
    "9-5",
    "weekdays 9-5",
    "monday at 12 at night",
    "every morning and evening at 8",
    *MILLISECONDS,
    "every\u00a0monday at\u00a09",
]


def remedy(text):
    with pytest.raises(InvalidCadence) as caught:
        parse(text)
    return caught.value.remedy


@for_each("text", TYPED)
def test_a_typed_text_gets_the_nearest_cadence(text):
    written = re.search(r'write "([^"]+)"', remedy(text))[1]
    assert written == TYPED[text]
    assert parse(written)


@for_each("text", NO_CADENCE)
def test_a_text_with_other_words_gets_no_guess(text):
    assert 'write "' not in remedy(text)


@for_each("text", MILLISECONDS)
def test_less_than_a_second_has_that_reason(text):
    with pytest.raises(InvalidCadence, match="a cadence has whole seconds: ") as caught:
        parse(text)
    assert caught.value.remedy == "write it as in 10m, 1h30m or 45s"


@pytest.mark.parametrize(
    ("text", "caveats"),
    [
        ("every weekday at 9", ""),
        ("first monday of the month", "; choose its time"),
        ("every other monday at 9", "; choose a date of the cycle as its anchor"),
        ("every 5 minutes", ""),
    ],
)
def test_what_is_left_to_choose_is_named(text, caveats):
    assert remedy(text) == f'write "{TYPED[text]}"{caveats}'


def test_the_mistake_of_a_cadence_stays_marked():
    with pytest.raises(InvalidCadence) as caught:
        parse("daily 9:00 Europe/Paris")
    assert caught.value.problem == "daily takes 1 word, not 2"


SOME = (
    "every monday mondays at 9 9:30 pm noon first second last 2nd day of month 5 minutes weekday june UTC to"
)
words = st.sampled_from([*SOME.split(), "business day", "and", "from", "other", "weeks"])


@given(st.lists(words, min_size=1, max_size=7).map(" ".join))
def test_each_guess_is_a_valid_text(text):
    try:
        parse(text)
    except InvalidCadence as refused:
        found = re.search(r'write "([^"]+)"', refused.remedy)
        assert found is None or parse(found[1])
