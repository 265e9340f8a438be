"""``duetime app check``: its output and its exit status."""

import json
import sys

import pytest

from duetime.cli import main
from tests.cli.test_start import run

SOUND = """
from duetime import App, Payload, Run, daily, on_event

app = App()

class Invoice(Payload, version=2):
    number: int

@app.job("0 3 * * *", daily("09:00", tz="Europe/Paris"), name="billing-nightly")
def nightly(run: Run) -> None: ...

@app.job(on_event("orders", "Placed"))
def ship(invoice: Invoice) -> None: ...

@app.action
def send(invoice: Invoice) -> None: ...
"""
RUNS_OUT = """
from duetime import Calendar, daily

@app.job(daily("09:00", calendar=Calendar(include=["2020-01-01"])), name="ran-out")
def ran_out() -> None: ...
"""


RESOURCES = """
class Database: ...
class Mailer: ...

@app.resource
def database() -> Database:
    raise SystemExit("the check makes none")

@app.resource
def mailer(db: Database) -> Mailer: ...

@app.job(name="billing-mail")
def mail(db: Database, mailer: Mailer) -> None: ...
"""
MISSING = """
class Database: ...

@app.job(name="billing-mail")
def mail(db: Database) -> None: ...
"""


@pytest.fixture
def check(tmp_path, monkeypatch, capsys):
    """Return a function that writes a module, checks its app, and returns the status and the output."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])

    def of(code, *options, app="checked_app:app"):
        (tmp_path / "checked_app.py").write_text(code)
        sys.modules.pop("checked_app", None)
        try:
            status = main(["app", "check", "--app", app, *options])
        except SystemExit as ended:
            status = ended.code
        return status, *capsys.readouterr()

    yield of
    sys.modules.pop("checked_app", None)


def test_a_valid_app_is_printed_with_a_line_for_each_job_and_type(check):
    status, printed, errors = check(SOUND)
    assert (status, errors) == (0, "")
    lines = printed.splitlines()
    assert lines[0].split() == ["JOB", "CADENCES", "NEXT", "RUN", "OVERLAP"]
    assert lines[1].startswith("billing-nightly")
    assert "at 03:00 every day, UTC; every day at 09:00, Europe/Paris time" in lines[1]
    assert lines[1].endswith("  skip")
    assert lines[2].startswith("checked-app-ship")
    assert "on each event Placed from orders" in lines[2]
    assert lines[2].endswith("  -                     allow")
    assert lines[-3].split() == ["invoice", "version", "2", "checked_app.send"]
    assert lines[-1] == "2 jobs, 1 action, no problems"


def test_a_problem_is_printed_and_exits_with_1(check):
    status, printed, errors = check(SOUND + RUNS_OUT)
    assert (status, errors) == (1, "")
    assert (
        "problem: ran-out: 'daily 09:00 calendar=include:2020-01-01' is due 0 more times, then never"
        in printed
    )
    assert printed.endswith("\n3 jobs, 1 action, 1 problem\n")


def test_json_has_the_same_jobs_and_problems(check):
    status, printed, _ = check(SOUND + RUNS_OUT, "--json")
    assert status == 1
    found = json.loads(printed)
    assert [job["name"] for job in found["jobs"]] == ["billing-nightly", "checked-app-ship", "ran-out"]
    assert found["jobs"][0]["handler"] == "checked_app.nightly"
    assert [job["cadence"] for job in found["jobs"][0]["cadences"]] == [
        "cron 0 3 * * *",
        "daily 09:00 tz=Europe/Paris",
    ]
    assert found["jobs"][0]["next"].endswith("Z")
    assert found["jobs"][1]["next"] is None
    assert found["actions"] == [{"type": "invoice", "version": 2, "handler": "checked_app.send"}]
    assert (len(found["problems"]), found["notes"]) == (1, [])


def test_a_cadence_that_is_over_gives_a_note_and_exits_with_0(check):
    job = '@app.job("once 2020-01-01T09:00", name="was-once")\ndef f(): ...\n'
    code = f"from duetime import App\napp = App()\n{job}"
    status, printed, _ = check(code)
    assert status == 0
    assert "note: was-once: 'once 2020-01-01T09:00' is over: it has no further due time" in printed


def test_an_app_may_have_only_jobs_or_only_actions(check):
    code = "from duetime import App, Payload\napp = App()\nclass Ping(Payload): ...\n"
    assert check(code + "@app.action\ndef f(p: Ping): ...")[1].endswith("0 jobs, 1 action, no problems\n")
    assert check(code + "@app.job\ndef f(): ...")[1].endswith("1 job, 0 actions, no problems\n")


@pytest.mark.parametrize(
    ("code", "problem"),
    [
        ("app = 5", "checked_app:app is int, not a duetime.App"),
        ("import nothing_of_that_name", "cannot import the app 'checked_app:app'"),
        ("1 / 0", "importing the app 'checked_app:app' failed: ZeroDivisionError"),
        ("from duetime import App\napp = App()", "registers no handler"),
        (
            'from duetime import App\napp = App()\n@app.job("61 * * * *")\ndef f(): ...',
            "checked_app.f: minute: 61 is out of range",
        ),
    ],
    ids=str,
)
def test_an_app_that_cannot_be_imported_fails_with_the_reason_and_no_traceback(check, code, problem):
    status, printed, errors = check(code)
    assert (status, printed) == (1, "")
    assert errors.startswith("duetime: ")
    assert problem in errors.splitlines()[0]
    assert "Traceback" not in errors
    assert all(line.startswith("    ") for line in errors.splitlines()[1:])


def test_an_app_option_that_is_not_module_name_is_bad_usage(check):
    status, _, errors = check(SOUND, app="checked_app")
    assert status == 2
    assert "is not module:name" in errors


def test_no_app_is_bad_usage(capsys):
    with pytest.raises(SystemExit) as ended:
        main(["app", "check"])
    assert ended.value.code == 2
    assert "--app" in capsys.readouterr().err


def test_help_loads_nothing_heavy_and_names_the_command():
    ended = run("app", "check", "--help")
    assert (ended.returncode, ended.stderr) == (0, "loaded: []\n")
    assert "    check " in run("--help").stdout


def test_resources_are_listed_with_their_users_and_none_is_created(check):
    status, printed, errors = check(SOUND + RESOURCES)
    assert (status, errors) == (0, "")
    lines = [line.split() for line in printed.splitlines()]
    assert ["RESOURCE", "MADE", "BY", "NEEDED", "BY"] in lines
    assert ["Mailer", "checked_app.mailer", "checked_app.mail"] in lines
    _, printed, _ = check(SOUND + RESOURCES, "--json")
    assert json.loads(printed)["resources"][0] == {
        "resource": "Database",
        "factory": "checked_app.database",
        "needed_by": ["checked_app.mail", "checked_app.mailer"],
    }


def test_a_missing_resource_is_printed_with_the_function_that_needs_it(check):
    status, printed, errors = check(SOUND + MISSING)
    assert (status, printed) == (1, "")
    assert "checked_app.mail takes db: Database, and the app has no such resource" in errors


def test_an_invalid_cadence_is_printed_with_a_caret_and_its_source_line(check):
    status, _, errors = check(SOUND.replace("0 3 * * *", "0 24 * * *"))
    first, shown, carets, location = errors.splitlines()

    assert status == 1
    assert first == "duetime: checked_app.nightly: hour: 24 is out of range; use 0-23"
    assert shown[carets.index("^") : len(carets)] == "24"
    assert location.startswith("    at ")
    assert location.endswith("checked_app.py, line 9")


@pytest.mark.parametrize(
    ("option", "expected"),
    [
        ("catchup=1", "a job takes no catchup=; did you mean catch_up?"),
        ('timezone="Europe/Paris"', 'cron(…, tz="Europe/Paris")'),
        ("frob=1", "its options are title, category, description"),
    ],
)
def test_an_unknown_job_option_is_printed_with_a_suggestion_and_its_source_line(check, option, expected):
    status, _, errors = check(SOUND.replace('name="billing-nightly"', option))

    assert status == 1
    assert expected in errors
    assert "checked_app.py, line 9" in errors


def test_a_surprising_cadence_gives_a_note_and_no_problem(check):
    status, printed, _ = check(SOUND.replace("0 3 * * *", "*/7 * * * *"))

    assert status == 0
    assert "note: billing-nightly: 'cron */7 * * * *': */7 restarts each hour" in printed


def test_a_deadline_has_a_column(check):
    late = SOUND.replace(
        'name="billing-nightly"', 'name="billing-nightly", within=3600, every_success_within=93_600'
    )
    status, printed, _ = check(late)
    assert status == 0
    [row] = [line for line in printed.splitlines() if line.startswith("billing-nightly")]
    assert row.endswith("; a success every 1 day 2 hours")
    assert "DEADLINE" in printed
    assert "DEADLINE" not in check(SOUND)[1]
