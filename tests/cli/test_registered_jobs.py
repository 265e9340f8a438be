"""The commands that register and unregister jobs, against a scheduler that really runs."""

import io

import pytest

from tests.cli.jobs import REPORT


@pytest.fixture
def registered(duetime):
    """A job that is due in the far future."""
    return duetime.json("jobs", "register", *REPORT)


def test_a_job_is_registered_and_shown(duetime):
    status, printed, errors = duetime(
        "jobs", "register", *REPORT, "--set", "title=Report", "--attempts", "4", "--backoff", "30s,5m"
    )
    assert (status, errors) == (0, "")
    first, second = printed.splitlines()
    assert first.startswith(
        "registered acme-report: every week on Monday at 06:00, Europe/Paris time; next run "
    )
    assert second == f"look at it: duetime jobs show acme-report --url {duetime.url}"
    _, printed, _ = duetime("jobs", "show", "acme-report")
    assert printed.splitlines()[0] == "acme-report  Report  enabled"
    assert "  declared by     developer, at run time" in printed
    assert '  payload         {"text": "weekly"}' in printed
    assert "  retry           4 attempts; back-off 30 s, 5 min; jitter 0.1" in printed
    assert "CADENCE" in printed
    assert len(printed.partition("NEXT RUNS")[2].strip().splitlines()) == 6
    assert printed.splitlines()[-1] == (
        "list its occurrences: duetime jobs show acme-report --from -24h --until 24h"
    )


def test_a_job_that_runs_after_another_one_shows_that(duetime):
    duetime("jobs", "register", *REPORT)
    late = ["acme-late", *REPORT[1:], "--after", "acme-report", "--set", "after_timeout=4h"]
    drafted = duetime("jobs", "register", *late, "--dry-run")[1]
    assert "after: acme-report, whose run of the day must have succeeded; skipped after 4 h" in drafted
    assert duetime.json("jobs", "register", *late)["after_timeout"] == 14_400
    printed = duetime("jobs", "show", "acme-late")[1]
    assert (
        "  after           acme-report, whose run of the day must have succeeded; skipped after 4 h"
        in printed
    )
    (line,) = (line for line in duetime("jobs", "list")[1].splitlines() if line.startswith("acme-late"))
    assert ", after acme-report" in line


def test_every_option_of_a_job_is_registered(duetime):
    options = (
        "--set", "overlap=queue_one", "--set", "catch_up=2", "--precision", "minute", "--set", "title=Report",
        "--set", "category=r", "--set", "description=weekly", "--set", "failure_threshold=5",
        "--within", "2h", "--set", "every_success_within=8d",
        "--jitter", "0", "--set", "give_up_after=1h", "--idempotency-key", "k-1", "--idempotency-ttl", "7d",
    )  # fmt: skip
    job = duetime.json("jobs", "register", *REPORT, "--cadence", "daily 07:00", *options)
    assert duetime.json("jobs", "register", *REPORT, "--idempotency-key", "k-1") == job
    assert len(job["cadences"]) == 2
    assert (job["overlap"], job["catch_up"], job["precision"]) == ("queue_one", 2, "minute")
    assert (job["title"], job["category"], job["description"]) == ("Report", "r", "weekly")
    assert (job["within"], job["every_success_within"]) == (7_200, 691_200)
    printed = duetime("jobs", "show", "acme-report")[1]
    assert "  deadline        a nominal time must succeed within 2 h" in printed
    assert "  silence         a run must succeed every 8 d" in printed
    assert "NEXT RUNS" in printed
    assert "DEADLINE" in printed
    assert (job["failure_threshold"], job["retry"]["jitter"], job["retry"]["give_up_after"]) == (5, 0, 3600)


def test_a_job_is_registered_and_triggered(duetime):
    _, printed, _ = duetime("jobs", "register", *REPORT, "--trigger")
    run = printed.splitlines()[1].removeprefix("triggered ")
    assert duetime.json("actions", "show", run)["job"] == "acme-report"


def test_a_repeated_registration_with_one_idempotency_key_has_one_run(duetime):
    keyed = (*REPORT, "--trigger", "--idempotency-key", "k-1", "--idempotency-ttl", "1h")
    first = duetime("jobs", "register", *keyed)
    assert duetime("jobs", "register", *keyed) == first
    runs = duetime.json("jobs", "history", "acme-report")["items"]
    assert [run["trigger"] for run in runs].count("manual") == 1


def test_a_job_is_replaced(duetime, registered):
    job = duetime.json("jobs", "register", *REPORT[:5], "--cadence", "daily 07:00", "--replace")
    assert (job["name"], job["version"]) == ("acme-report", 2)


def test_a_payload_is_read_from_standard_input(duetime, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO('{"text": "piped"}'))
    job = duetime.json("jobs", "register", "acme-piped", "--type", "remark", "--payload", "-")
    assert job["payload"]["text"] == "piped"


def test_a_registered_job_is_unregistered(duetime, registered):
    status, printed, _ = duetime("jobs", "unregister", "acme-report")
    assert (status, printed) == (0, "unregistered acme-report; its runs: duetime jobs history acme-report\n")
    assert duetime("jobs", "show", "acme-report")[0] == 1
    assert duetime("jobs", "history", "acme-report")[0] == 0


def test_a_rejected_cadence_is_printed_with_a_caret(duetime):
    status, printed, errors = duetime(
        "jobs", "register", "acme-x", "--type", "remark", "--payload", "{}", "--cadence", "61 * * * *"
    )
    assert (status, printed) == (1, "")
    assert errors == "duetime: minute: 61 is out of range; use 0-59\n    61 * * * *\n    ^^\n"


def test_another_tenant_cannot_see_a_registered_job(duetime, registered):
    assert duetime("jobs", "show", "acme-report", "--tenant", "globex")[0] == 1
    assert duetime.json("jobs", "show", "acme-report") == {
        name: value for name, value in registered.items() if name != "run_id"
    }


def test_the_load_of_the_next_week_has_its_fullest_minutes(duetime):
    duetime("jobs", "register", *REPORT)
    assert duetime("jobs", "load")[1].splitlines()[-1] == "no two jobs begin in the same minute"
    for number in range(7):
        duetime("jobs", "register", f"acme-report-{number}", *REPORT[1:])
    status, printed, errors = duetime("jobs", "load", "--capacity", "5")
    assert (status, errors) == (0, "")
    heading, heads, crowd = printed.splitlines()
    assert heading.startswith("10 jobs (all) until ")
    assert heading.endswith("; capacity 5 a minute; minutes with more: 1")
    assert heads.split() == ["FIRST", "MINUTE", "JOBS", "OVER", "MINUTES", "NAMES"]
    assert " 8     3     1        acme-report, acme-report-0, " in crowd
    assert crowd.endswith(", acme-report-3 and 3 more")
    assert duetime.json("jobs", "load")["crowds"][0]["begin"] == 8
