"""``duetime doctor``: the problems of a deployment, with remedies."""

import json
import re
from datetime import UTC, datetime
from pathlib import Path

import pytest

from duetime.cli.doctor import SECTIONS, diagnose, diagnose_jobs

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
HEALTHY = {
    "status": "ok",
    "ill": [],
    "parts": {"jobs table": "ok", "due index": "ok"},
    "requested_at": "2026-03-01T12:00:00Z",
    "enabled": True,
    "timers": "eventbridge",
    "due_shards": 16,
    "swept_until": "2026-03-01T11:59:30Z",
    "last_sweep": {"began_at": "2026-03-01T11:59:30Z", "status": "executed", "message": None},
    "last_catch_up": {"began_at": "2026-03-01T06:00:00Z", "status": "executed", "message": None},
    "oldest_overdue": None,
    "held": {"count": 0, "more": False},
    "held_too_long": {"count": 0, "more": False},
    "undelivered": {"count": 0, "more": False},
    "failed_last_day": {"count": 0, "more": False},
    "failure_queue": 0,
    "types": ["remark"],
}
OLDEST = {"tenant_id": "acme", "id": "a-1", "type": "remark", "due_at": "2026-03-01T11:00:00Z"}
ME = {"tenant_id": "acme", "actor": "ada", "roles": [], "permissions": []}
FAILED = {"began_at": "2026-03-01T06:00:00Z", "status": "failed", "message": "no"}


def problems(**changes):
    return [finding for finding in diagnose(HEALTHY | changes, NOON) if finding.state != "ok"]


def test_a_healthy_deployment_has_no_finding():
    assert problems() == []


@pytest.mark.parametrize(
    ("changes", "about", "state"),
    [
        ({"parts": {"jobs table": "unavailable"}}, "jobs table", "ill"),
        ({"enabled": False}, "switch", "look"),
        ({"swept_until": None}, "sweep", "look"),
        ({"ill": ["sweep"]}, "sweep", "ill"),
        ({"ill": ["catch-up"]}, "catch-up", "ill"),
        ({"last_catch_up": FAILED}, "catch-up", "look"),
        ({"oldest_overdue": OLDEST, "ill": ["overdue"]}, "overdue", "ill"),
        ({"held": {"count": 7, "more": False}}, "held", "look"),
        ({"held_too_long": {"count": 1, "more": True}}, "held", "ill"),
        ({"failure_queue": 3}, "failure queue", "look"),
        ({"undelivered": {"count": 100, "more": True}}, "undelivered", "look"),
        ({"failed_last_day": {"count": 1, "more": False}}, "dead letters", "look"),
        ({"types": []}, "handlers", "ill"),
    ],
)
def test_each_problem_gives_a_finding_with_a_remedy(changes, about, state):
    [found] = problems(**changes)
    assert (found.about, found.state) == (about, state)
    assert found.remedy
    assert found.section in SECTIONS


def test_an_overdue_action_within_the_limit_is_ok():
    assert problems(oldest_overdue=OLDEST) == []


def test_whether_an_action_is_overdue_is_not_known_if_all_that_was_read_is_held():
    overdue, held = problems(held={"count": 100, "more": True})
    assert (overdue.about, overdue.state, held.about) == ("overdue", "look", "held")
    assert overdue.message.startswith("not known")


def job(name, failures=0, paused=None):
    return {"name": name, "consecutive_failures": failures, "paused": paused}


def test_failing_and_paused_jobs_are_listed():
    jobs = [job("a-well"), job("a-once", 1), job("b-bad", 3), job("c-rests", 9, {"until": None})]
    failing, paused = diagnose_jobs(jobs, NOON)
    assert (failing.state, failing.message) == ("look", "failing: b-bad (3 in a row)")
    assert (paused.state, paused.message) == ("look", "paused: c-rests")
    assert {failing.section, paused.section} <= set(SECTIONS)


def test_a_long_list_of_failing_jobs_is_truncated():
    [failing] = diagnose_jobs([job(f"a-{number}", 2) for number in range(7)], NOON)
    assert failing.message.endswith("a-4 (2 in a row), and 2 more")


def test_healthy_jobs_give_one_finding():
    [well] = diagnose_jobs([job("a-well"), job("a-once", 1)], NOON)
    assert well.state == "ok"


def test_the_doctor_lists_paused_jobs(duetime):
    duetime("jobs", "pause", "billing-nightly")
    _, printed, _ = duetime("doctor")
    assert "paused: billing-nightly" in printed


def test_the_runbook_has_the_section_of_every_finding():
    page = Path(__file__).parents[2] / "docs/runbook.md"
    headings = re.findall(r"^## (.+)$", page.read_text(), re.MULTILINE)
    assert set(SECTIONS) <= set(headings)


def test_the_doctor_prints_a_table_of_findings(duetime):
    status, printed, _ = duetime("doctor")
    assert status == 0
    first, _, head, *rows = printed.splitlines()
    assert first == f"{duetime.url}, as developer of acme"
    assert head.split() == ["CHECK", "STATE", "FINDING", "REMEDY"]
    assert any(row.startswith("handlers ") for row in rows)
    assert "see the runbook:\n  duetime deployment runbook " in printed


def test_an_ill_deployment_exits_with_1_and_names_the_section(duetime, serve):
    def answer(_method, path, *_more):
        content = ME if path.endswith("/me") else HEALTHY | {"ill": ["sweep"], "status": "ill"}
        return 200, "application/json", json.dumps(content)

    url = serve(answer)
    status, printed, errors = duetime("doctor", url=url)
    assert (status, errors) == (1, "")
    assert printed.splitlines()[-1] == "  duetime deployment runbook the-sweep-or-the-catch-up-lags"
    status, printed, _ = duetime("doctor", "--json", url=url)
    assert (status, json.loads(printed)["status"]) == (1, "ill")


def test_suggested_commands_repeat_the_connection_options(duetime):
    duetime("jobs", "pause", "billing-nightly")
    options = f"--url {duetime.url} --tenant acme --user ada"
    _, printed, _ = duetime("doctor", "--tenant", "acme", "--user", "ada")
    assert f"duetime jobs resume billing-nightly {options}" in printed
    findings = duetime.json("doctor", "--tenant", "acme", "--user", "ada")["findings"]
    [paused] = (finding for finding in findings if finding["about"] == "jobs")
    assert paused["remedy"] == f"duetime jobs resume billing-nightly {options}"


def test_a_remedy_that_is_no_command_stays_unchanged():
    [switch] = problems(enabled=False)
    assert switch.with_connection("--profile test") == switch


def test_suggested_commands_have_no_options_without_connection_options():
    [waiting] = problems(undelivered={"count": 3, "more": False})
    assert waiting.with_connection("").remedy == "duetime undelivered list"


def test_the_deployments_runbook_address_is_printed_with_each_section(duetime, serve):
    there = "https://wiki.example.com/duetime"

    def answer(_method, path, *_more):
        ill = {"ill": ["sweep"], "status": "ill", "failed_last_day": {"count": 2, "more": False}}
        content = ME if path.endswith("/me") else HEALTHY | ill | {"runbook": there}
        return 200, "application/json", json.dumps(content)

    _, printed, _ = duetime("doctor", url=serve(answer))
    assert printed.splitlines()[-3:] == [
        "see the runbook:",
        f"  {there}#the-sweep-or-the-catch-up-lags",
        f"  {there}#dead-letters",
    ]
