"""``duetime jobs versions``, its ``roll-back`` and ``jobs register --dry-run``."""

import json
import re

import pytest

from duetime.cli.exchange import exchange

REPORT = ("acme-report", "--type", "remark", "--payload", '{"text": "weekly"}')
WEEKLY, DAILY = (
    ("--cadence", "weekly mon 06:00 tz=Europe/Paris"),
    ("--cadence", "daily 02:30 tz=Europe/Paris"),
)


@pytest.fixture
def edited(duetime):
    """A job with a second version."""
    assert duetime("jobs", "register", *REPORT, *WEEKLY)[0] == 0
    assert duetime("jobs", "register", *REPORT, *DAILY, "--replace")[0] == 0


def test_versions_are_listed_with_what_each_changed(duetime, edited):
    status, printed, errors = duetime("jobs", "versions", "acme-report")
    assert (status, errors) == (0, "")
    head, second, first = printed.splitlines()
    assert head.split() == ["ID", "SINCE", "BY", "CHANGES"]
    assert (second.split()[0], first.split()[0]) == ("2", "1")
    assert "weekly mon 06:00" in second
    assert "→" in second
    shown = duetime("jobs", "versions", "acme-report", "1", "--against", "2")[1]
    assert "FIELD" in shown
    assert "cadences" in shown
    status, _, errors = duetime("jobs", "versions", "acme-report", "--against", "2")
    assert status == 2
    assert "use `jobs versions acme-report ID`" in errors


def test_a_job_is_rolled_back(duetime, edited):
    status, printed, _ = duetime("jobs", "versions", "acme-report", "1", "roll-back")
    assert status == 0
    assert printed.startswith("rolled back acme-report to 1: every week on Monday at 06:00")
    assert "version 3" in printed
    status, _, errors = duetime("jobs", "versions", "acme-report", "9", "roll-back")
    assert status == 1
    assert "duetime jobs versions acme-report" in errors


def test_a_roll_back_does_not_overwrite_a_change_that_is_made_after_its_read(duetime, edited, url, serve):
    """Another caller replaces the job as soon as the command has read it."""
    meanwhile = ["--set", "title=Of Ada"]

    def answer(method, path, query, headers, body):
        received = exchange(method, url + path, dict(headers), body and body.encode(), base=url)
        if method == "GET":
            assert duetime("jobs", "register", *REPORT, *DAILY, *meanwhile, "--replace")[0] == 0
        etags = [received.etag] if received.etag else []
        return received.status, "application/json", received.body.decode(), *etags

    status, _, errors = duetime("jobs", "versions", "acme-report", "1", "roll-back", url=serve(answer))
    assert status == 1
    assert "it has changed meanwhile" in errors
    assert duetime.json("jobs", "show", "acme-report")["title"] == "Of Ada"


def test_a_dry_run_prints_the_effect_and_registers_nothing(duetime):
    status, printed, errors = duetime("jobs", "register", *REPORT, *DAILY, "--dry-run")
    assert (status, errors) == (0, "")
    assert printed.startswith("acme-report would be registered; nothing was changed")
    assert re.search(r"1 run a day, about \$0\.00\d[1-9] a month", printed)
    assert len(re.findall(r"  note: \d{4}-\d\d-\d\d (?:moved|once): ", printed)) >= 2
    assert duetime("jobs", "show", "acme-report")[0] == 1


def test_a_dry_run_of_a_replacement_prints_the_changes(duetime, edited):
    printed = duetime("jobs", "register", *REPORT, *WEEKLY, "--replace", "--dry-run")[1]
    assert "would be replaced, as version 3" in printed
    assert "daily 02:30" in printed
    draft = json.loads(duetime("jobs", "register", *REPORT, *WEEKLY, "--replace", "--dry-run", "--json")[1])
    assert [change["field"] for change in draft["changes"]] == ["cadences"]


def test_a_dry_run_that_would_be_rejected_has_the_problems_and_an_exit_status(duetime):
    status, printed, _ = duetime("jobs", "register", "acme-x", "--type", "remarks", "--dry-run")
    assert status == 1
    assert "would be rejected" in printed
    assert "known are" in printed
    status, _, errors = duetime("jobs", "register", *REPORT, "--dry-run", "--trigger")
    assert status == 2
    assert "leave out --trigger" in errors
