"""The commands of jobs, against a scheduler that really runs."""

import shlex
from datetime import UTC, datetime

import pytest

from duetime.cli.views import JOB, JOBS
from tests.cli.jobs import NIGHTLY, REPORT


def test_jobs_are_listed_in_aligned_columns(duetime):
    status, printed, errors = duetime("jobs", "list")
    head, line, *_ = printed.splitlines()
    assert (status, errors) == (0, "")
    assert head.split() == ["NAME", "CADENCE", "NEXT", "RUN", "LAST", "RUN", "STATE"]
    assert line.startswith("billing-nightly   every day at 02:30, Europe/Paris time  ")
    assert line.index("every day") == head.index("CADENCE")
    assert line.endswith("enabled")
    assert "\033" not in printed


def test_a_job_without_statistics_shows_its_latest_run(duetime):
    (job, *_) = duetime.json("jobs", "list")["items"]
    assert job["recent_runs"] == []
    now = datetime(2026, 3, 1, 12, tzinfo=UTC)
    run = {"status": "executed", "started_at": "2026-03-01T11:59:00Z", "nominal_at": "2026-03-01T11:00:00Z"}
    shown = [JOBS([job | {"last_run": None, "recent_runs": runs}], now) for runs in ([run], [])]
    assert "executed 60 s ago" in shown[0]
    assert " -  " in shown[1]


@pytest.mark.parametrize(
    ("dollars", "runs", "shown"),
    [
        (0.0022, 1.0, "0.0022 dollars a month, by 1 run a day"),
        (0.932, 1_440.0, "0.93 dollars a month, by 1,440 runs a day"),
        (1_234.5, 2.345, "1,234.50 dollars a month, by 2.35 runs a day"),
    ],
)
def test_a_job_is_shown_with_its_price(duetime, dollars, runs, shown):
    job = duetime.json("jobs", "show", "billing-nightly")
    assert job["dollars_per_month"] > 0
    priced = job | {"dollars_per_month": dollars, "runs_per_day": runs}
    now = datetime(2026, 3, 1, 12, tzinfo=UTC)
    assert f"  {shown}\n" in JOB(priced, now)
    assert "price" not in JOB(priced | {"dollars_per_month": None}, now)


def test_the_next_page_is_a_command(duetime):
    names = [job["name"] for job in duetime.json("jobs", "list")["items"]]
    _, printed, _ = duetime("jobs", "list", "--limit", "1")
    *_, more = printed.splitlines()
    _, printed, _ = duetime(*shlex.split(more.removeprefix("more: duetime ")))
    assert printed.splitlines()[1].startswith(names[1])


def test_an_empty_list_is_one_line(duetime, serve):
    url = serve(lambda *_: (200, "application/json", '{"items": [], "next_cursor": null}'))
    assert duetime("jobs", "list", url=url) == (0, "no jobs\n", "")


def test_a_job_is_paused_shown_as_paused_and_resumed(duetime):
    assert duetime("jobs", "pause", "billing-nightly", "--reason", "audit") == (
        0,
        "paused billing-nightly\n",
        "",
    )
    _, printed, _ = duetime("jobs", "show", "billing-nightly")
    assert printed.splitlines()[0] == "billing-nightly  Nightly bills  paused"
    assert "by developer: audit" in printed
    assert "NEXT RUNS" not in printed
    assert duetime("jobs", "resume", "billing-nightly") == (0, "resumed billing-nightly\n", "")


def test_a_pause_has_an_end(duetime):
    _, printed, _ = duetime("jobs", "pause", "billing-nightly", "--for", "2h")
    assert printed.startswith("paused billing-nightly until ")
    assert printed.endswith(("(in 120 min)\n", "(in 2 h)\n"))
    job = duetime.json("jobs", "pause", "billing-nightly", "--until", "2027-06-01T09:00:00+02:00")
    assert job["paused"]["until"] == "2027-06-01T07:00:00Z"


def test_one_cadence_is_paused(duetime):
    _, printed, _ = duetime("jobs", "pause", "billing-nightly", "--cadence", NIGHTLY)
    assert printed == f"paused {NIGHTLY} of billing-nightly\n"
    listed = duetime("jobs", "list")[1].splitlines()[1]
    assert listed.endswith("1 of 1 cadence paused")
    assert duetime("jobs", "resume", "billing-nightly", "--cadence", NIGHTLY)[0] == 0


def test_the_next_run_is_skipped_with_a_reason(duetime):
    _, printed, _ = duetime("jobs", "skip-next", "billing-nightly")
    assert printed.startswith("skipped billing-nightly.000001.")
    run = printed.split()[1].rstrip(",")
    _, printed, _ = duetime("actions", "show", run)
    assert printed.splitlines()[0] == f"{run}  billing-nightly  skipped"
    assert f"  cadence         {NIGHTLY}" in printed
    assert "  skip reason     requested" in printed
    assert "  note            skipped by developer" in printed


def test_retries_are_set_and_reset(duetime):
    _, printed, _ = duetime(
        "jobs", "set", "billing-nightly", "--attempts", "7", "--backoff", "1m,10m", "--jitter", "0.5"
    )
    assert printed == "billing-nightly: set: 7 attempts; back-off 60 s, 10 min; jitter 0.5\n"
    _, shown, _ = duetime("jobs", "show", "billing-nightly")
    assert "  set             all cadences: 7 attempts; back-off 60 s, 10 min; jitter 0.5" in shown
    _, printed, _ = duetime("jobs", "set", "billing-nightly")
    assert printed == "billing-nightly: nothing set; the declared policy applies\n"


def test_retries_of_one_cadence_are_set(duetime):
    job = duetime.json("jobs", "set", "billing-nightly", "--attempts", "7", "--cadence", NIGHTLY)
    assert job["tuning"] == [{"cadence": NIGHTLY, "attempts": 7, "backoff": None, "jitter": None}]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("show", "acme-unknown"), "there is no job 'acme-unknown'"),
        (("pause", "acme-unknown"), "there is no job 'acme-unknown'"),
        (("history", "acme-unknown"), "there is no job 'acme-unknown'"),
        (("resume", "billing-nightly"), "it is not paused"),
        (("pause", "billing-nightly", "--cadence", "x"), f"its cadences are {NIGHTLY}"),
        (("pause", "billing-nightly", "--until", "2020-01-01"), "has passed"),
        (("pause", "billing-nightly", "--for", "999999d"), "1970 to 2199"),
        (("trigger", "billing-nightly", "--payload", "{}"), "takes none"),
        (("trigger", "billing-rebuild"), "there is none"),
        (("trigger", "billing-rebuild", "--payload", '{"txet": 1}'), "txet: Extra inputs are not permitted"),
        (("skip-next", "billing-rebuild"), "it has no next run"),
        (("set", "billing-nightly", "--attempts", "0"), "1 to 100"),
        (("set", "billing-nightly", "--jitter", "2"), "0 to 1"),
        (("unregister", "billing-nightly"), "code declares it"),
        (("list", "--cursor", "x"), "start again without one"),
        (("register", "billing-nightly", *REPORT[1:]), "the name 'billing-nightly' is taken"),
        (("register", "acme-x", "--type", "remarks"), "known are: doomed, remark"),
        (("register", *REPORT, "--set", "overlap=never"), "overlap must be 'skip'"),
        (("register", "acme-x", "--type", "remark", "--cadence", "daily 07:00"), "there is none"),
    ],
)
def test_a_rejection_by_the_api_is_printed_on_one_line(duetime, words, expected):
    status, printed, line = duetime("jobs", *words)
    assert (status, printed) == (1, "")
    assert line.startswith("duetime: ")
    assert line.count("\n") == 1
    assert expected in line


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ((), "'duetime jobs' has no option '--url'"),
        (
            ("history", "billing-nightly", "--status", "done"),
            "there is no status 'done'; use retrying, pending",
        ),
        (("explode",), "'duetime jobs' has no command 'explode'"),
        (("show", ""), "two or more kebab-case segments"),
        (("show", "preview"), "two or more kebab-case segments"),
        (("pause", "billing-nightly", "--until", "tomorrow"), "'tomorrow' is not a time"),
        (("pause", "billing-nightly", "--until", "0001-01-01T00:00+23:00"), "is not a time"),
        (("pause", "billing-nightly", "--until", "2027-01-01", "--for", "5m"), "not allowed with"),
        (("set", "billing-nightly", "--backoff", "1m,,5m"), "write one such as"),
        (("register", "acme-report"), "--type"),
        (("register", *REPORT, "--replace", "--trigger"), "not allowed with"),
        (("register", *REPORT[:3], "--payload", "{"), "--payload is not JSON"),
        (("trigger", "billing-rebuild", "--payload", "[]"), "must be a JSON object"),
    ],
)
def test_bad_usage_ends_with_2(duetime, words, expected):
    status, printed, line = duetime("jobs", *words)
    assert (status, printed) == (2, "")
    assert line.startswith("duetime: ")
    assert line.count("\n") == 1
    assert expected in line


@pytest.mark.parametrize(
    "answer",
    [(200, "application/json", '{"id": "x"}'), (200, "text/html", "<html>"), (404, "text/plain", "no")],
)
def test_a_response_of_another_server_is_an_error(duetime, serve, answer):
    status, _, line = duetime("jobs", "pause", "billing-nightly", url=serve(lambda *_: answer))
    assert status == 1
    assert "not a response of duetime" in line
