"""An expression of another scheduler is rejected, with the same cadence in duetime's spelling."""

from __future__ import annotations

import re

import pytest

from duetime.cadence import InvalidCadence, cron, parse
from tests.cases import for_each

ELSEWHERE = [
    ("cron(0 9 ? * MON-FRI *)", "EventBridge's cron", "0 9 ? * MON-FRI"),
    ("cron(0 9 ? * 2-6 *)", "EventBridge's cron", "0 9 ? * MON-FRI"),
    ("cron(0 10 ? * 6#3 *)", "EventBridge's cron", "0 10 ? * FRI#3"),
    ("cron(0 10 ? * 6L *)", "EventBridge's cron", "0 10 ? * FRIL"),
    ("cron(0 12 * * ? 2027)", "EventBridge's cron", "0 12 * * ? start=2027-01-01 end=2027-12-31"),
    ("0 9 ? * MON-FRI *", "EventBridge's cron", "0 9 ? * MON-FRI"),
    ("rate(5 minutes)", "EventBridge's rate", "interval 5m"),
    ("rate(1 day)", "EventBridge's rate", "interval 1d"),
    ("at(2027-06-01T09:00:00)", "EventBridge's single time", "once 2027-06-01T09:00:00"),
    ("0 0 12 * * ? *", "this has 7: it ends with Quartz' year", "0 0 12 * * ?"),
    (
        "0 0 12 ? * 2-6 2027",
        "it ends with Quartz' year",
        "0 0 12 ? * MON-FRI start=2027-01-01 end=2027-12-31",
    ),
    (
        "0 0 12 ? * 2,6 2027-2029",
        "it ends with Quartz' year",
        "0 0 12 ? * MON,FRI start=2027-01-01 end=2029-12-31",
    ),
    ("0 0 12 ? * L *", "it ends with Quartz' year", "0 0 12 ? * SAT"),
    ("Mon..Fri *-*-* 02:30:00", "systemd's OnCalendar", "daily 02:30 days=mon-fri"),
    ("Monday,Wed 10:00 Europe/Paris", "systemd's OnCalendar", "daily 10:00 days=mon,wed tz=Europe/Paris"),
    ("*-*-01 02:30:00", "systemd's OnCalendar", "monthly 1 02:30"),
    ("*-*-* 02:30", "systemd's OnCalendar", "daily 02:30"),
    ("hourly", "systemd's word", "0 * * * *"),
    ("@every 1h30m", "Go's spelling of an interval", "interval 1h30m"),
    ("crontab(minute=0, hour=3)", "Celery's crontab", "0 3 * * *"),
    ('crontab(minute="*/15", day_of_week="mon,wed")', "Celery's crontab", "*/15 * * * mon,wed"),
    ("crontab(hour=3)", "Celery's crontab", "* 3 * * *"),
    ("CRON_TZ=Europe/Paris 0 3 * * *", "the zone comes before", "0 3 * * * tz=Europe/Paris"),
    ("TZ=UTC 0 3 * * *", "the zone comes before", "0 3 * * * tz=UTC"),
    ("H H * * *", "Jenkins' hash", "0 0 * * * spread=1d"),
    ("H/15 H(0-7) * * *", "Jenkins' hash", "0-59/15 3 * * * spread=15m"),
    ("0 3 * * * /usr/local/bin/backup.sh", "a command follows", "0 3 * * *"),
    ("*/15 * * * * root /usr/bin/backup", "a command follows", "*/15 * * * *"),
    ("@daily ./backup", "a command follows", "@daily"),
    ("0 0 1 * MON /bin/x", "a command follows", "0 0 1 * MON day_rule=or"),
]
UNKNOWN = [
    "0 3 * * MON-FRY",
    "0 0 * *",
    "5 * * * * ; rm",
    "0 0 0 1 13 MON",
    "cron(61 9 ? * MON-FRI *)",
    "rate(5 fortnights)",
    "@every moment",
    "crontab(minute=99)",
    "TZ=Mars/X 0 3 * * *",
    "Mon..Fry 10:00",
    "daily 09:00 calendar=exclude:2026-12-25 days=mon-sun weeks=1-5 window=00:00-23:59 tz=Mars/X",
    "",
]
"""Spellings of no known scheduler, or without a cadence."""


def refusal(text):
    with pytest.raises(InvalidCadence) as caught:
        parse(text)
    return caught.value


@for_each(("text", "whose", "here"), ELSEWHERE)
def test_the_error_of_another_schedulers_spelling_contains_the_same_cadence(text, whose, here):
    refused = refusal(text)

    assert whose in refused.problem
    assert refused.remedy.startswith(f'write "{here}"')


@for_each(("text", "whose", "here"), ELSEWHERE)
def test_the_suggested_cadence_is_valid(text, whose, here):
    suggestion = re.match('write "([^"]+)"', refusal(text).remedy)[1]

    assert suggestion == here
    assert parse(suggestion)


@pytest.mark.parametrize("text", UNKNOWN)
def test_an_unknown_spelling_has_its_own_error(text):
    assert 'write "' not in refusal(text).remedy


def test_the_caret_marks_the_foreign_part():
    command = refusal("  0 3 * * * /usr/local/bin/backup.sh")
    complete = refusal("rate(5 minutes)")

    assert command.text[command.start :] == "/usr/local/bin/backup.sh"
    assert (complete.start, complete.width) == (0, len("rate(5 minutes)"))


def test_the_remedy_names_differences():
    assert "any other number" in refusal("H/15 H(0-7) * * *").remedy
    assert "any other number" not in refusal("H H * * *").remedy
    assert "in each minute" in refusal("crontab(hour=3)").remedy
    assert "in each minute" not in refusal("crontab(minute=0, hour=3)").remedy


def test_the_function_cron_recognises_spellings_too():
    with pytest.raises(InvalidCadence, match="this is EventBridge"):
        cron("cron(0 9 ? * MON-FRI *)")


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("dailly 09:00", "daily"),
        ("@dailly", "@daily"),
        ("0 3 * * MOM", "MON"),
        ("0 3 * * sun,mo", "MON"),
        ("daily 09:00 tz=Paris", "Europe/Paris"),
        ("daily 09:00 tz=new_york", "America/New_York"),
        ("daily 09:00 tz=Europe/Pariss", "Europe/Paris"),
    ],
)
def test_the_remedy_names_a_similar_word(text, meant):
    assert refusal(text).remedy == f"did you mean {meant}?"
