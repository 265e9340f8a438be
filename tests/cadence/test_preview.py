"""``duetime preview``: tables, JSON and errors."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from duetime.cadence import cron, local_occurrences
from duetime.cli import main
from tests.cases import for_each

pytestmark = pytest.mark.usefixtures("wide_terminal")


@pytest.fixture
def duetime(capsys):
    def run(*words):
        status = main(["preview", *words])
        out, err = capsys.readouterr()
        return status, out, err

    return run


def test_a_preview_shows_the_night_on_which_spring_moves_a_cron(duetime):
    status, out, err = duetime("30 2 * * *", "--tz", "Europe/Paris", "--from", "2026-03-27", "--count", "5")

    moved = "moved: 02:30 did not exist, the clocks went forward to 03:00"
    assert (status, err) == (0, "")
    assert out.splitlines() == [
        "Cron_30_2_x_x_x: at 02:30 every day, Europe/Paris time",
        "",
        "local (Europe/Paris)            UTC",
        "Fri 2026-03-27 02:30:00 +01:00  2026-03-27T01:30:00Z",
        "Sat 2026-03-28 02:30:00 +01:00  2026-03-28T01:30:00Z",
        f"Sun 2026-03-29 03:00:00 +02:00  2026-03-29T01:00:00Z  {moved}",
        "Mon 2026-03-30 02:30:00 +02:00  2026-03-30T00:30:00Z",
        "Tue 2026-03-31 02:30:00 +02:00  2026-03-31T00:30:00Z",
        "",
        "changes of the clocks ahead:",
        "Sun 2026-10-25 02:30:00 +02:00  once: 02:30 comes twice, and only the first pass runs",
        f"Sun 2027-03-28 03:00:00 +02:00  {moved}",
        "",
        "second opinion: croniter agrees, changes of the clocks aside",
    ]


@pytest.mark.parametrize(
    ("words", "marks"),
    [
        (["30 2 * * *", "--from", "2026-03-28"], [None, "moved", None]),
        (["30 2 * * *", "--from", "2026-03-28", "--dst", "eventbridge"], [None, "skipped", None, None]),
        (["30 2 * * *", "--from", "2026-10-24"], [None, "once", None]),
        (["30 * * * *", "--from", "2026-10-25T01:30"], [None, "doubled", "doubled"]),
        (["*/20 * * * *", "--from", "2026-03-29T01:40", "--dst", "vixie"], [None, "skipped", None, None]),
        (["daily 02:30", "--from", "2026-03-29"], ["moved", None, None]),
        (["every 30m", "--from", "2026-03-29T01:30"], [None, "moved", None]),
        (["weekly sun 02:30", "--from", "2026-03-27"], ["moved", None, None]),
    ],
)
def test_effects_of_clock_changes_are_marked(duetime, words, marks):
    status, out, _ = duetime(*words, "--tz", "Europe/Paris", "--count", "3", "--json")
    shown = json.loads(out)

    assert status == 0
    assert [row["mark"] for row in shown["occurrences"]] == marks
    assert all(bool(row["note"]) == bool(row["mark"]) for row in shown["occurrences"])
    assert all((row["at"] is None) == (row["mark"] == "skipped") for row in shown["occurrences"])


def test_json_has_everything_in_the_table_and_the_wakes(duetime):
    status, out, _ = duetime(
        "daily 09:00 days=mon-fri tz=Asia/Tokyo", "--from", "2026-01-16", "--count", "1", "--json"
    )

    assert status == 0
    assert json.loads(out) == {
        "cadence": "daily 09:00 days=mon-fri tz=Asia/Tokyo",
        "name": "Daily_09_00_mon-fri_Asia_Tokyo",
        "description": "each day at 09:00, on Monday to Friday, Asia/Tokyo time",
        "tz": "Asia/Tokyo",
        "occurrences": [
            {"at": "2026-01-16T00:00:00Z", "local": "2026-01-16T09:00:00+09:00", "mark": None, "note": ""}
        ],
        "wakes": [{"expression": "cron(0 9 ? * MON-FRI *)", "tz": "Asia/Tokyo"}],
        "disagreements": [],
        "second_opinion": None,
        "changes": [],
        "notes": [],
    }


def test_from_and_until_are_included(duetime):
    _, out, _ = duetime("0 0 * * *", "--from", "2026-01-01", "--until", "2026-01-03", "--json")

    assert [load["at"][:10] for load in json.loads(out)["occurrences"]] == [
        "2026-01-01",
        "2026-01-02",
        "2026-01-03",
    ]


def test_an_interval_counts_from_the_start_of_the_preview(duetime):
    _, out, _ = duetime("interval 7m", "--from", "2026-01-01T00:00Z", "--count", "2", "--json")

    assert [load["at"] for load in json.loads(out)["occurrences"]] == [
        "2026-01-01T00:07:00Z",
        "2026-01-01T00:14:00Z",
    ]


@pytest.mark.parametrize("start", ["2027-01-04T10:00Z", "2027-01-04T20:00Z"])
def test_an_interval_that_some_starts_never_let_run_has_a_note_whatever_its_preview_begins_with(
    duetime, start
):
    _, out, _ = duetime("interval 1d window=09:00-17:00", "--from", start, "--json")

    assert "so it may never run; use at most 8h" in json.loads(out)["notes"][0]


def test_a_preview_begins_now_and_shows_ten_by_default(duetime):
    status, out, _ = duetime("every 10m")

    assert status == 0
    assert len(out.splitlines()) == 13


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        (["manual"], "no time makes it due"),
        (["on_event orders OrderPlaced"], "no time makes it due"),
        (["once 2020-01-01T00:00", "--from", "2026-01-01"], "no occurrence any more"),
        (["0 0 1 1 *", "--from", "2026-02-01", "--until", "2026-03-01"], "no occurrence in that time"),
    ],
)
def test_a_preview_without_occurrences_prints_the_reason(duetime, words, shown):
    status, out, _ = duetime(*words)

    assert status == 0
    assert shown in out


@pytest.mark.parametrize(
    ("words", "under"),
    [
        (["61 * * * *"], "61"),
        (["0 0 13 * FRI"], "13 * FRI"),
        (["daily 25:00"], "25:00"),
        (["daily 09:00", "--tz", "Mars/X"], "Mars/X"),
        (["daily 09:00", "--from", "soon"], "soon"),
        (["daily 09:00", "--until", "2026-02-30"], "2026-02-30"),
        (["daily 09:00", "--count", "0"], "0"),
        (["daily 09:00", "--day-rule", "and"], "day_rule=and"),
        (["0 0 30 2 *"], "30"),
    ],
)
def test_a_mistake_prints_the_expression_with_a_caret_under_the_field_and_exits_2(duetime, words, under):
    status, out, err = duetime(*words)
    _, shown, carets = err.rstrip("\n").split("\n")

    assert (status, out) == (2, "")
    assert shown[carets.index("^") : len(carets)] == under


def test_a_first_and_a_second_pass_have_different_words():
    eve = datetime(2026, 10, 24, 23, 45, tzinfo=UTC)
    found = [
        row.words
        for row in local_occurrences(
            cron("0 * * * *", tz="Europe/Paris"), eve, datetime(2026, 10, 25, 2, tzinfo=UTC)
        )
    ]

    assert found == [
        "doubled: 02:00 comes twice, this is the first pass",
        "doubled: 02:00 came twice, this is the second pass",
        "",
    ]


@pytest.mark.parametrize(
    ("words", "marks"),
    [
        (["30 2 * * *", "--tz", "Europe/Paris"], ["moved", "once"]),
        (["30 2 * * *", "--tz", "Europe/Paris", "--dst", "eventbridge"], ["skipped", "once"]),
        (["15 2 * * *", "--tz", "Australia/Lord_Howe"], ["moved"]),
        (["*/10 * * * *", "--tz", "America/New_York"], ["moved", "doubled"]),
        (["* * * * * *", "--tz", "Europe/Paris"], ["moved", "doubled"]),
        (["30 9 * * *", "--tz", "Europe/Paris"], []),
        (["30 2 * * *"], []),
        (["interval 7m", "--tz", "Europe/Paris"], []),
        (["30 2 * * *", "--tz", "Europe/Paris", "--until", "2026-01-03"], []),
    ],
)
def test_later_clock_changes_are_listed(duetime, words, marks):
    _, out, _ = duetime(*words, "--from", "2026-01-02", "--count", "1", "--json")

    assert [load["mark"] for load in json.loads(out)["changes"]] == marks


def test_a_gap_that_is_shown_is_not_listed_again(duetime):
    words = ("30 2 * * *", "--tz", "Europe/Paris", "--dst", "eventbridge")
    _, out, _ = duetime(*words, "--from", "2026-03-28", "--count", "1", "--json")
    shown = json.loads(out)

    assert [row["mark"] for row in shown["occurrences"]] == [None, "skipped"]
    assert [row["mark"] for row in shown["changes"]] == ["once", "skipped"]
    assert shown["changes"][1]["local"][:10] == "2027-03-28"


def test_a_skipped_day_is_listed(duetime):
    _, out, _ = duetime(
        "30 2 * * *", "--tz", "Pacific/Apia", "--from", "2011-12-01", "--count", "1", "--json"
    )

    assert json.loads(out)["changes"][0]["at"] == "2011-12-30T10:00:00Z"


@for_each(("expression", "messages"), [
        ("*/7 * * * *", ["from minute 56 to the next 0 it is 4 minutes; interval(minutes=7) is even"]),
        ("0 */5 * * *", ["from hour 20 to the next 0 it is 4 hours; interval(hours=5) is even"]),
        ("*/15 * * * *", []),
        ("0 0 31 * *", ["a month without a day 31 is passed over"]),
        ("0 0 31 1,3 *", []),
        ("0 0 28,31 * *", ["a month without a day 31 has no run for it"]),
        ("0 0 25-31 * *", []),
        ("0 0 31,L * *", []),
        ("0 12 * * ? *", ['minute and end with the year, write "0 12 * * ?"']),
        ("0 0 12 ? * 2-6", ["Quartz and EventBridge count from Sunday 1"]),
        ("0 0 12 ? * MON-FRI", []),
        ("0 0 * * 2-6", []),
        ("@daily", []),
        ("* 2 * * *", ['minute * runs in each minute of the hour; to run once in it, write "0 2 * * *"']),
        ("* 2,3 * * *", ['write "0 2,3 * * *"']),
        ("* 9-17 * * *", []),
        ("* * * * *", []),
        ("* 0 2 * * *", ['second * runs in each second of the minute; to run once in it, write "0 0 2 * *']),
        ("0 0 */2 * *", ["*/2 restarts on the 1st of each month; every(days=2, anchor=...) is even"]),
        ("0 0 1/15 * *", ["1/15 restarts on the 1st of each month"]),
        ("0 0 5/10 * *", []),
        ("0 0 * * */2", ["from day 6 to the next 0 it is 1 day; name the weekdays, as in MON,WED,FRI"]),
        ("0 0 1 */5 *", ["month */5 restarts each year: from month 11 to the next 1 it is 2 months"]),
        ("0 0 1 */3 *", []),
        ("0 17-9 * * *", ["17 and later, and up to 9; for those between, write 9-17"]),
        ("0 9-17 * * *", []),
        ("0 0 * * 5-1", ["day-of-week 5-1 goes over the end of the week: 5 and later, and up to 1"]),
        ("0 0 * * 5-7", []),
        ("0 0 * * 5-0", []),
        ("10-20/30 * * * *", ["minute 10-20/30 is 10 alone, since its step is longer than its range"]),
        ("10-40/30 * * * *", []),
        ("50/20 * * * *", ["minute 50/20 is 50 alone, since its step is longer than its range"]),
        ("5/7 * * * *", ["from minute 54 to the next 5 it is 11 minutes; interval(minutes=7) is even"]),
        ("5/15 * * * *", []),
        ("0 5/4 * * *", ["from hour 21 to the next 5 it is 8 hours; interval(hours=4) is even"]),
    ])  # fmt: skip
def test_warnings_are_notes(duetime, expression, messages):
    _, out, _ = duetime(expression, "--json")
    notes = json.loads(out)["notes"]

    assert len(notes) == len(messages)
    assert all(message in note for message, note in zip(messages, notes, strict=True))


@pytest.mark.parametrize(
    ("expression", "opinion"),
    [
        ("30 2 * * *", "croniter agrees, changes of the clocks aside"),
        ("0 0 15W * *", "not asked, since croniter does not know W and L-n"),
        ("daily 02:30", None),
    ],
)
def test_the_second_opinion_is_printed(duetime, expression, opinion):
    _, out, _ = duetime(expression, "--json")
    _, table, _ = duetime(expression)

    assert json.loads(out)["second_opinion"] == opinion
    assert (f"second opinion: {opinion}" in table) == (opinion is not None)


def test_a_rule_of_another_language_is_read_and_written(duetime):
    rule = "DTSTART;TZID=Europe/Paris:20270104T090000\nRRULE:FREQ=WEEKLY;BYDAY=MO;COUNT=2"
    status, out, _ = duetime(rule, "--in", "rrule", "--from", "2027-01-01")
    assert status == 0
    assert out.splitlines()[3:5] == [
        "Mon 2027-01-04 09:00:00 +01:00  2027-01-04T08:00:00Z",
        "Mon 2027-01-11 09:00:00 +01:00  2027-01-11T08:00:00Z",
    ]
    status, out, _ = duetime("Mon..Fri 02:30", "--in", "systemd", "--as", "systemd", "--tz", "Asia/Tokyo")
    assert (status, out) == (0, "Mon..Fri *-*-* 02:30:00 Asia/Tokyo\n")
    status, out, _ = duetime("daily 09:00 days=mon", "--as", "rrule", "--from", "2027-01-01")
    assert (status, out.splitlines()[0]) == (0, "DTSTART:20270104T090000Z")


def test_what_the_other_language_lacks_is_named(duetime):
    status, _, err = duetime("daily 09:00 spread=10m", "--as", "systemd")
    assert (status, "OnCalendar cannot express spread=" in err) == (2, True)
    status, _, err = duetime("FREQ=YEARLY;BYWEEKNO=20", "--in", "rrule")
    assert (status, "BYWEEKNO has no equivalent" in err) == (2, True)


@pytest.mark.parametrize("columns", [80, 70])
def test_sentences_fit_the_terminal(duetime, monkeypatch, columns):
    monkeypatch.setenv("COLUMNS", str(columns))
    cadence = "*/7 9-17 1,31 * * except_at=2027-01-01T08:00 start=2027-01-01"
    status, out, _ = duetime(cadence, "--from", "2027-01-01", "--count", "1")
    assert status == 0
    assert "note: a month without a day 31" in out
    assert max(map(len, out.splitlines())) <= columns
    assert "note: except_at 2027-01-01T08:00 excludes nothing: it is no time of the cadence" in " ".join(
        out.split()
    )
