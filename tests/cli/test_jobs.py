"""The commands of jobs, against a scheduler that really runs."""

import io
import shlex
from datetime import UTC, datetime

import pytest

from duetime.cli.command_tree import commands_of
from duetime.cli.job_text import listed
from duetime.cli.main import parser

NIGHTLY = "Daily_02_30_Europe_Paris"
REPORT = (
    "acme-report",
    "--type",
    "remark",
    "--payload",
    '{"text": "weekly"}',
    "--cadence",
    "weekly mon 06:00 tz=Europe/Paris",
)


@pytest.fixture
def registered(duetime):
    """A job that is not due for long."""
    return duetime.json("jobs", "register", *REPORT)


@pytest.fixture
def failed(duetime):
    """A run of a job, that has failed."""
    run = duetime.json("jobs", "trigger", "billing-rebuild", "--payload", "{}")
    while duetime.json("actions", "show", run["id"])["status"] != "failed":
        pass
    return run["id"]


def test_jobs_are_listed_in_aligned_columns(duetime):
    status, printed, told = duetime("jobs", "list")
    head, line, *_ = printed.splitlines()
    assert (status, told) == (0, "")
    assert head.split() == ["NAME", "CADENCE", "NEXT", "RUN", "LAST", "RUN", "STATE"]
    assert line.startswith("billing-nightly   every day at 02:30, Europe/Paris time  ")
    assert line.index("every day") == head.index("CADENCE")
    assert line.endswith("enabled")
    assert "\033" not in printed


def test_a_job_that_keeps_no_tally_shows_the_latest_of_its_runs(duetime):
    (job, *_) = duetime.json("jobs", "list")["items"]
    assert job["recent_runs"] == []
    now = datetime(2026, 3, 1, 12, tzinfo=UTC)
    run = {"status": "executed", "started_at": "2026-03-01T11:59:00Z", "nominal_at": "2026-03-01T11:00:00Z"}
    shown = [listed([job | {"last_run": None, "recent_runs": each}], now) for each in ([run], [])]
    assert "executed 60 s ago" in shown[0]
    assert " -  " in shown[1]


def test_the_next_page_is_a_command_to_paste(duetime):
    names = [each["name"] for each in duetime.json("jobs", "list")["items"]]
    _, printed, _ = duetime("jobs", "list", "--limit", "1")
    *_, more = printed.splitlines()
    _, printed, _ = duetime(*shlex.split(more.removeprefix("more: duetime ")))
    assert printed.splitlines()[1].startswith(names[1])


def test_a_tenant_without_jobs_is_told_so(duetime, serve):
    url = serve(lambda *_: (200, "application/json", '{"items": [], "next_cursor": null}'))
    assert duetime("jobs", "list", url=url) == (0, "no jobs\n", "")


def test_a_job_is_registered_and_shown(duetime):
    status, printed, told = duetime(
        "jobs", "register", *REPORT, "--title", "Report", "--attempts", "4", "--backoff", "30s,5m"
    )
    assert (status, told) == (0, "")
    first, second = printed.splitlines()
    assert first.startswith(
        "registered acme-report: every week on Monday at 06:00, Europe/Paris time; next run "
    )
    assert second == "look at it: duetime jobs show acme-report"
    _, printed, _ = duetime("jobs", "show", "acme-report")
    assert printed.splitlines()[0] == "acme-report  Report  enabled"
    assert "  declared by     developer, at run time" in printed
    assert '  payload         {"text": "weekly"}' in printed
    assert "  retry           4 attempts; back-off 30 s, 5 min; jitter 0.1" in printed
    assert "CADENCE" in printed
    assert len(printed.partition("NEXT RUNS")[2].strip().splitlines()) == 6
    assert printed.splitlines()[-1] == (
        "account for its times: duetime jobs show acme-report --from TIME --until TIME"
    )


def test_everything_that_can_be_said_of_a_job_is_registered(duetime):
    options = (
        "--overlap", "queue_one", "--catch-up", "2", "--precision", "minute", "--title", "Report", "--category", "r",
        "--description", "weekly", "--failure-threshold", "5", "--jitter", "0", "--give-up-after", "1h",
        "--idempotency-key", "k-1", "--idempotency-ttl", "7d",
    )  # fmt: skip
    job = duetime.json("jobs", "register", *REPORT, "--cadence", "daily 07:00", *options)
    assert duetime.json("jobs", "register", *REPORT, "--idempotency-key", "k-1") == job
    assert len(job["cadences"]) == 2
    assert (job["overlap"], job["catch_up"], job["precision"]) == ("queue_one", 2, "minute")
    assert (job["title"], job["category"], job["description"]) == ("Report", "r", "weekly")
    assert (job["failure_threshold"], job["retry"]["jitter"], job["retry"]["give_up_after"]) == (5, 0, 3600)


def test_a_job_is_registered_and_triggered(duetime):
    _, printed, _ = duetime("jobs", "register", *REPORT, "--trigger")
    run = printed.splitlines()[1].removeprefix("triggered ")
    assert duetime.json("actions", "show", run)["job"] == "acme-report"


def test_a_job_that_is_registered_and_triggered_again_under_one_key_has_one_run(duetime):
    keyed = (*REPORT, "--trigger", "--idempotency-key", "k-1", "--idempotency-ttl", "1h")
    first = duetime("jobs", "register", *keyed)
    assert duetime("jobs", "register", *keyed) == first
    runs = duetime.json("jobs", "history", "acme-report")["items"]
    assert [each["trigger"] for each in runs].count("manual") == 1


def test_a_job_is_replaced(duetime, registered):
    job = duetime.json("jobs", "register", *REPORT[:5], "--cadence", "daily 07:00", "--replace")
    assert (job["name"], job["version"]) == ("acme-report", 2)


def test_a_payload_is_read_from_standard_input(duetime, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO('{"text": "piped"}'))
    job = duetime.json("jobs", "register", "acme-piped", "--type", "remark", "--payload", "-")
    assert job["payload"]["text"] == "piped"


def test_a_job_is_paused_shown_so_and_resumed(duetime):
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


def test_a_pause_ends_when_it_is_told_to(duetime):
    _, printed, _ = duetime("jobs", "pause", "billing-nightly", "--for", "2h")
    assert printed.startswith("paused billing-nightly until ")
    assert printed.endswith(("(in 120 min)\n", "(in 2 h)\n"))
    job = duetime.json("jobs", "pause", "billing-nightly", "--until", "2027-06-01T09:00:00+02:00")
    assert job["paused"]["until"] == "2027-06-01T07:00:00Z"


def test_one_cadence_is_paused(duetime):
    _, printed, _ = duetime("jobs", "pause", "billing-nightly", "--cadence", NIGHTLY)
    assert printed == f"paused {NIGHTLY} of billing-nightly\n"
    listed = duetime("jobs", "list")[1].splitlines()[1]
    assert listed.endswith("1 of 1 cadences paused")
    assert duetime("jobs", "resume", "billing-nightly", "--cadence", NIGHTLY)[0] == 0


def test_a_triggered_run_is_shown_with_its_job_and_why_it_was_due(duetime, failed):
    _, printed, _ = duetime("actions", "show", failed)
    assert "  job             billing-rebuild" in printed
    assert "  trigger         manual" in printed
    assert "  nominal time    2" in printed
    assert "  failed          Fatal: no bank" in printed
    assert "correlation id" not in printed


def test_a_triggered_run_is_where_the_command_says(duetime):
    status, printed, _ = duetime("jobs", "trigger", "billing-nightly")
    first, second = printed.splitlines()
    assert status == 0
    run = first.removeprefix("triggered billing-nightly: ")
    assert second == f"look at it: duetime actions show {run}"
    assert duetime.json("actions", "show", run)["trigger"] == "manual"


def test_the_next_run_is_skipped_and_told_why(duetime):
    _, printed, _ = duetime("jobs", "skip-next", "billing-nightly")
    assert printed.startswith("skipped billing-nightly.000001.")
    run = printed.split()[1].rstrip(",")
    _, printed, _ = duetime("actions", "show", run)
    assert printed.splitlines()[0] == f"{run}  billing-nightly  skipped"
    assert f"  cadence         {NIGHTLY}" in printed
    assert "  skip reason     asked" in printed
    assert "  note            skipped by developer" in printed


def test_what_became_of_a_jobs_times_is_shown_with_the_reasons(duetime):
    duetime("jobs", "skip-next", "billing-nightly")
    _, printed, _ = duetime("jobs", "show", "billing-nightly", "--from", "2020-01-01T00:00Z")
    head, line = printed.splitlines()[-2:]
    assert head.split() == ["NOMINAL", "TIME", "LOCAL", "ACCOUNT", "RUN", "WHY"]
    assert "02:30:00 Europe/Paris  skipped  billing-nightly.000001." in line
    assert line.endswith("asked: skipped by developer")
    _, printed, _ = duetime("jobs", "show", "billing-nightly", "--until", "2020-01-01T00:00Z")
    assert printed.splitlines()[-1] == "no time of it lies in that window"


def test_accounts_are_the_apis_as_json(duetime):
    job = duetime.json("jobs", "show", "billing-nightly", "--from", "2020-01-01")
    assert job["name"] == "billing-nightly"
    assert job["occurrences"]["items"]


def test_history_is_listed_newest_first_with_what_became_of_each(duetime, failed):
    _, printed, _ = duetime("jobs", "history", "billing-rebuild", "--status", "failed")
    head, line = printed.splitlines()
    assert head.split() == ["NOMINAL", "TIME", "STATUS", "TRIGGER", "ATTEMPTS", "TOOK", "ID", "WHY"]
    assert failed in line
    assert line.endswith("Fatal: no bank")
    assert duetime("jobs", "history", "billing-rebuild", "--status", "executed") == (0, "no runs\n", "")


def test_runs_of_a_status_are_found_behind_others(duetime, failed):
    duetime("jobs", "trigger", "billing-rebuild", "--payload", "{}")
    duetime("jobs", "trigger", "billing-rebuild", "--payload", "{}")
    found = duetime.json("jobs", "history", "billing-rebuild", "--status", "failed", "--limit", "1")
    assert len(found["items"]) == 1


def test_runs_of_a_window_are_found_and_the_next_page_keeps_it(duetime, failed):
    window = ("--from", "2020-01-01T00:00Z", "--until", "2100-01-01T00:00Z")
    other = duetime.json("jobs", "trigger", "billing-rebuild", "--payload", "{}")["id"]
    _, printed, _ = duetime("jobs", "history", "billing-rebuild", *window, "--limit", "1")
    assert "--from 2020-01-01T00:00:00Z --until 2100-01-01T00:00:00Z" in printed
    assert {other in printed, failed in printed} == {True, False}
    before = duetime("jobs", "history", "billing-rebuild", "--until", "2020-01-01T00:00Z")
    assert before == (0, "no runs\n", "")


@pytest.mark.parametrize("verb", ["show", "history"])
def test_to_means_until_and_no_help_tells_it(duetime, failed, verb):
    span = ("billing-rebuild", "--from", "2020-01-01T00:00Z")
    before, after = "2020-01-02T00:00Z", "2100-01-01T00:00Z"
    said = [duetime.json("jobs", verb, *span, "--to", each) for each in (before, after)]
    assert said == [duetime.json("jobs", verb, *span, "--until", each) for each in (before, after)]
    assert said[0] != said[1]
    (command,) = (each for each in commands_of(parser()) if each.path == f"jobs {verb}")
    options = command.words()
    assert "--until" in options
    assert "--to" not in options


def test_the_next_page_of_a_history_is_a_command_to_paste(duetime, failed):
    other = duetime.json("jobs", "trigger", "billing-rebuild", "--payload", "{}")["id"]
    _, printed, _ = duetime("jobs", "history", "billing-rebuild", "--limit", "1")
    *_, more = printed.splitlines()
    _, following, _ = duetime(*shlex.split(more.removeprefix("more: duetime ")))
    assert {failed in printed, failed in following} == {True, False}
    assert {other in printed, other in following} == {True, False}


def test_retries_are_set_and_let_go_again(duetime):
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


def test_a_registered_job_is_taken_back(duetime, registered):
    status, printed, _ = duetime("jobs", "unregister", "acme-report")
    assert (status, printed) == (0, "unregistered acme-report; its runs: duetime jobs history acme-report\n")
    assert duetime("jobs", "show", "acme-report")[0] == 1
    assert duetime("jobs", "history", "acme-report")[0] == 0


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("show", "acme-nobody"), "there is no job 'acme-nobody'"),
        (("pause", "acme-nobody"), "there is no job 'acme-nobody'"),
        (("history", "acme-nobody"), "there is no job 'acme-nobody'"),
        (("resume", "billing-nightly"), "it is not paused"),
        (("pause", "billing-nightly", "--cadence", "x"), f"its cadences are {NIGHTLY}"),
        (("pause", "billing-nightly", "--until", "2020-01-01"), "has passed"),
        (("pause", "billing-nightly", "--for", "999999d"), "1970 to 2199"),
        (("trigger", "billing-nightly", "--payload", "{}"), "takes none"),
        (("trigger", "billing-rebuild"), "there is none"),
        (("trigger", "billing-rebuild", "--payload", '{"txet": 1}'), "txet: Extra inputs are not permitted"),
        (("skip-next", "billing-rebuild"), "none is to come"),
        (("set", "billing-nightly", "--attempts", "0"), "1 to 100"),
        (("set", "billing-nightly", "--jitter", "2"), "0 to 1"),
        (("unregister", "billing-nightly"), "code declares it"),
        (("list", "--limit", "0"), "limit must be greater than or equal to 1"),
        (("list", "--cursor", "x"), "start again without one"),
        (("history", "billing-nightly", "--status", "done"), "status must be 'pending'"),
        (("register", "billing-nightly", *REPORT[1:]), "the name 'billing-nightly' is taken"),
        (("register", "acme-x", "--type", "remarks"), "known are: doomed, remark"),
        (("register", *REPORT, "--overlap", "never"), "overlap must be 'skip'"),
        (("register", "acme-x", "--type", "remark", "--cadence", "daily 07:00"), "there is none"),
    ],
)
def test_what_the_api_refuses_is_told_on_one_line(duetime, words, told):
    status, printed, line = duetime("jobs", *words)
    assert (status, printed) == (1, "")
    assert line.startswith("duetime: ")
    assert line.count("\n") == 1
    assert told in line


def test_a_refused_cadence_is_pointed_at(duetime):
    status, printed, told = duetime(
        "jobs", "register", "acme-x", "--type", "remark", "--payload", "{}", "--cadence", "61 * * * *"
    )
    assert (status, printed) == (1, "")
    assert told == "duetime: minute: 61 is out of range; use 0-59\n    61 * * * *\n    ^^\n"


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ((), "COMMAND"),
        (("explode",), "invalid choice"),
        (("show", ""), "two or more kebab-case segments"),
        (("show", "preview"), "two or more kebab-case segments"),
        (("pause", "billing-nightly", "--until", "tomorrow"), "'tomorrow' is no time"),
        (("pause", "billing-nightly", "--until", "0001-01-01T00:00+23:00"), "is no time"),
        (("pause", "billing-nightly", "--until", "2027-01-01", "--for", "5m"), "not allowed with"),
        (("set", "billing-nightly", "--backoff", "1m,,5m"), "write one such as"),
        (("register", "acme-report"), "--type"),
        (("register", *REPORT, "--replace", "--trigger"), "not allowed with"),
        (("register", *REPORT[:3], "--payload", "{"), "--payload is no JSON"),
        (("trigger", "billing-rebuild", "--payload", "[]"), "must be a JSON object"),
    ],
)
def test_bad_usage_ends_with_2(duetime, words, told):
    status, printed, line = duetime("jobs", *words)
    assert (status, printed) == (2, "")
    assert line.startswith("duetime: ")
    assert line.count("\n") == 1
    assert told in line


@pytest.mark.parametrize(
    "answer",
    [(200, "application/json", '{"id": "x"}'), (200, "text/html", "<html>"), (404, "text/plain", "no")],
)
def test_something_else_that_serves_there_is_told(duetime, serve, answer):
    status, _, line = duetime("jobs", "pause", "billing-nightly", url=serve(lambda *_: answer))
    assert status == 1
    assert "not as duetime does" in line


def test_another_tenant_sees_nothing_of_a_registered_job(duetime, registered):
    assert duetime("jobs", "show", "acme-report", "--tenant", "globex")[0] == 1
    assert duetime.json("jobs", "show", "acme-report") == {
        name: value for name, value in registered.items() if name != "run_id"
    }
