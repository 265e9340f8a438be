"""An error points at the invalid part of a text, even among similar parts."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from duetime.cadence import daily, parse, weekly
from duetime.cadence.errors import InvalidCadence
from tests.cases import for_each

CLOCK = st.sampled_from(["09:00", "9:00", "00:30", "10:00:05"])
BAD_CLOCK = st.sampled_from(["a", "9", "09", "25:00", "10:0", "0", "mon", "e", "UTC"])
WEEKDAY = st.sampled_from(["mon", "tue", "sat", "mon-fri"])
BAD_WORD = st.sampled_from(["mo", "m", "d", "0", "09:00", "daily", "e", "fry", "mon-fr", "on"])
SPACE = st.sampled_from([" ", "  ", "\t"])


def mixed(good, bad, between=","):
    """Draw a value of several items with an invalid one, that item, and its position."""

    def joined(drawn):
        before, fault, after = drawn
        value = between.join([*before, fault, *after])
        return value, fault, sum(len(word) + len(between) for word in before)

    some = st.lists(good, max_size=2)
    return st.tuples(some, bad, some).map(joined)


def single(bad):
    """Draw an invalid single value."""
    return bad.map(lambda value: (value, value, 0))


def window(good, bad):
    """Draw a window with one invalid end."""
    pairs = st.tuples(good, bad)
    opens = pairs.map(lambda pair: (f"{pair[1]}-{pair[0]}", pair[1], 0))
    shuts = pairs.map(lambda pair: (f"{pair[0]}-{pair[1]}", pair[1], len(pair[0]) + 1))
    return opens | shuts | single(st.sampled_from(["a", "09:00", "9"]))


WORDS = {
    "daily": [(CLOCK, single(BAD_CLOCK))],
    "every": [(st.sampled_from(["10m", "1h"]), single(st.sampled_from(["10", "m", "0m", "ten", "36h30m"])))],
    "interval": [(st.sampled_from(["7m", "90s"]), single(st.sampled_from(["7", "s", "0s", "in"])))],
    "weekly": [(WEEKDAY, mixed(WEEKDAY, BAD_WORD)), (CLOCK, single(BAD_CLOCK))],
    "monthly": [
        (st.sampled_from(["1", "last"]), single(st.sampled_from(["32", "0", "lst", "m"]))),
        (CLOCK, single(BAD_CLOCK)),
    ],
    "nth_weekday": [
        (
            st.sampled_from(["first", "last", "1"]),
            mixed(st.sampled_from(["first", "2"]), st.sampled_from(["las", "6", "mon"])),
        ),
        (WEEKDAY, mixed(WEEKDAY, BAD_WORD | st.just("last"))),
        (CLOCK, single(BAD_CLOCK)),
    ],
}
"""The words of each kind: valid and invalid ones."""

OPTIONS = {
    "days": (st.just("mon-sun"), mixed(WEEKDAY, BAD_WORD)),
    "months": (
        st.just("jan-dec"),
        mixed(st.sampled_from(["jan", "2"]), st.sampled_from(["ja", "13", "mon", "e"])),
    ),
    "weeks": (st.just("1-5"), mixed(st.just("first"), st.sampled_from(["fir", "6", "e"]))),
    "window": (st.just("00:00-23:59"), window(CLOCK, BAD_CLOCK)),
    "tz": (st.sampled_from(["UTC", "Europe/Paris"]), single(st.sampled_from(["Mars/X", "d", "UT", "daily"]))),
    "default_tz": (st.just("Asia/Tokyo"), single(st.sampled_from(["Mars/X", "d", "UT"]))),
    "calendar": (
        st.just("exclude:2026-12-25"),
        single(st.sampled_from(["silence:sat", "a"]))
        | st.just(("exclude:12-24,2026-13-01;name:x", "2026-13-01", 14))
        | st.just(("name:a;exclude:12-24;instead:skp", "skp", 29)),
    ),
}


@st.composite
def faulty(draw):
    """Draw a cadence's text with one mistake, and its position."""
    kind = draw(st.sampled_from(sorted(WORDS)))
    options = draw(st.lists(st.sampled_from(sorted(OPTIONS)), unique=True))
    arguments = [("", *word) for word in WORDS[kind]] + [(f"{name}=", *OPTIONS[name]) for name in options]
    wrong = draw(st.integers(0, len(arguments) - 1))
    text, place = draw(st.sampled_from(["", " "])) + kind, (0, 0)
    for number, (name, good, bad) in enumerate(arguments):
        text += draw(SPACE) + name
        value, fault, at = draw(bad) if number == wrong else (draw(good), "", 0)
        if number == wrong:
            place = (len(text) + at, len(fault))
        text += value
    return text, place


@given(faulty())
def test_the_carets_mark_the_mistake(case):
    text, (start, width) = case
    with pytest.raises(InvalidCadence) as caught:
        parse(text)
    assert (caught.value.text, caught.value.start, caught.value.width) == (text, start, width), caught.value


@given(
    st.lists(st.sampled_from(["*", "1", "1-5", "*/2"]), min_size=5, max_size=5), st.integers(0, 4), st.data()
)
def test_the_carets_mark_the_field_of_a_cron_expression_with_any_spacing(fields, wrong, data):
    fields = [*fields[:wrong], data.draw(st.sampled_from(["99", "x", "1-", "*/0"])), *fields[wrong + 1 :]]
    text = data.draw(st.sampled_from(["", " ", "cron "]))
    start = 0
    for number, field in enumerate(fields):
        text += data.draw(SPACE) if number else ""
        start = len(text) if number == wrong else start
        text += field
    text += data.draw(st.sampled_from(["", " tz=UTC", "  days=mon"]))
    with pytest.raises(InvalidCadence) as caught:
        parse(text)
    assert (caught.value.start, caught.value.width) == (start, len(fields[wrong])), caught.value


def refusal_of(text):
    try:
        parse(text)
    except InvalidCadence as refused:
        return refused
    return None


@given(st.text(st.sampled_from('daily every 09:mon=tzwin-,*/5 \t"{}'), max_size=30))
def test_an_error_of_any_text_points_into_the_text(text):
    refused = refusal_of(text)
    assume(text and refused)
    assert refused.text == text
    assert 0 <= refused.start < refused.start + refused.width <= len(text)


@pytest.mark.parametrize(
    ("text", "under"),
    [
        ("daily 09:00 window=a", 19),
        ("weekly mon mon", 11),
        ("on_event drop drop tenant=a no_tenant=a", 38),
        ("nth_weekday last last 06:00", 17),
        ("daily 09:00 days=mon tz=UTC days=mon", 28),
        ("weekly mon 06:00 every=2 tz=UTC", 17),
    ],
)
def test_the_carets_mark_the_right_one_of_two_equal_parts(text, under):
    with pytest.raises(InvalidCadence) as caught:
        parse(text)
    assert caught.value.start == under


@for_each("space", ["\u00a0", "\u2003", "\u3000", "\x85", "\x1c", "\v"])
@for_each("text", ["0 9{}* * *", "{}0 9 * * *", "@daily{}", "daily 09:00{}days=mon", "every{}5m"])
def test_only_ascii_spaces_separate_words(text, space):
    with pytest.raises(InvalidCadence, match="is not an ASCII character") as raised:
        parse(text.format(space))
    assert raised.value.start == text.index("{")


def test_an_unknown_zone_suggests_no_file_of_the_database():
    with pytest.raises(InvalidCadence) as raised:
        parse("0 9 * * * tz=/etc/localtime")
    assert "localtime?" not in str(raised.value)


@pytest.mark.parametrize("space", ["\u00a0", "\u2003", "\x85", "\x1f"])
def test_only_ascii_spaces_may_surround_the_arguments_of_functions(space):
    assert daily(" 09:00\n").text == "daily 09:00"
    for make in (lambda: daily(f"09:00{space}"), lambda: weekly(f"mon{space}", "09:00")):
        with pytest.raises(InvalidCadence):
            make()
