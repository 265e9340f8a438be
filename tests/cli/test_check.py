"""``duetime check``: what it prints of an app, and how it ends."""

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
    """Writes a module, checks its app, and gives the status, what is printed, and what is told of failures."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])

    def of(code, *options, app="checked_app:app"):
        (tmp_path / "checked_app.py").write_text(code)
        sys.modules.pop("checked_app", None)
        try:
            status = main(["check", "--app", app, *options])
        except SystemExit as ended:
            status = ended.code
        return status, *capsys.readouterr()

    yield of
    sys.modules.pop("checked_app", None)


def test_a_sound_app_is_shown_a_line_for_each_job_and_type(check):
    status, printed, told = check(SOUND)
    assert (status, told) == (0, "")
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


def test_a_problem_is_named_and_is_the_exit_status(check):
    status, printed, told = check(SOUND + RUNS_OUT)
    assert (status, told) == (1, "")
    assert (
        "problem: ran-out: 'daily 09:00 calendar=include:2020-01-01' is due 0 more times, then never"
        in printed
    )
    assert printed.endswith("\n3 jobs, 1 action, 1 problem\n")


def test_json_says_the_same(check):
    status, printed, _ = check(SOUND + RUNS_OUT, "--json")
    assert status == 1
    found = json.loads(printed)
    assert [each["name"] for each in found["jobs"]] == ["billing-nightly", "checked-app-ship", "ran-out"]
    assert found["jobs"][0]["handler"] == "checked_app.nightly"
    assert [each["cadence"] for each in found["jobs"][0]["cadences"]] == [
        "cron 0 3 * * *",
        "daily 09:00 tz=Europe/Paris",
    ]
    assert found["jobs"][0]["next"].endswith("Z")
    assert found["jobs"][1]["next"] is None
    assert found["actions"] == [{"type": "invoice", "version": 2, "handler": "checked_app.send"}]
    assert (len(found["problems"]), found["notes"]) == (1, [])


def test_what_is_over_is_a_note_and_no_failure(check):
    code = 'from duetime import App\napp = App()\n@app.job("once 2020-01-01T09:00", name="was-once")\ndef f(): ...\n'
    status, printed, _ = check(code)
    assert status == 0
    assert "note: was-once: 'once 2020-01-01T09:00' is over: it has no further due time" in printed


def test_an_app_without_jobs_and_one_without_actions_are_shown_too(check):
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
    status, printed, told = check(code)
    assert (status, printed) == (1, "")
    assert told.startswith("duetime: ")
    assert problem in told.splitlines()[0]
    assert "Traceback" not in told
    assert all(line.startswith("    ") for line in told.splitlines()[1:])


def test_an_app_that_is_named_otherwise_is_bad_usage(check):
    status, _, told = check(SOUND, app="checked_app")
    assert status == 2
    assert "is not module:name" in told


def test_no_app_is_bad_usage(capsys):
    with pytest.raises(SystemExit) as ended:
        main(["check"])
    assert ended.value.code == 2
    assert "--app" in capsys.readouterr().err


def test_help_loads_nothing_heavy_and_names_the_command():
    ended = run("check", "--help")
    assert (ended.returncode, ended.stderr) == (0, "loaded: []\n")
    assert "    check " in run("--help").stdout


def test_resources_are_told_with_those_that_need_them_and_none_is_made(check):
    status, printed, told = check(SOUND + RESOURCES)
    assert (status, told) == (0, "")
    lines = [line.split() for line in printed.splitlines()]
    assert ["RESOURCE", "MADE", "BY", "NEEDED", "BY"] in lines
    assert ["Mailer", "checked_app.mailer", "checked_app.mail"] in lines
    _, printed, _ = check(SOUND + RESOURCES, "--json")
    assert json.loads(printed)["resources"][0] == {
        "resource": "Database",
        "factory": "checked_app.database",
        "needed_by": ["checked_app.mail", "checked_app.mailer"],
    }


def test_a_resource_that_nothing_makes_is_named_with_what_takes_it(check):
    status, printed, told = check(SOUND + MISSING)
    assert (status, printed) == (1, "")
    assert "checked_app.mail takes db: Database, and the app has no such resource" in told


def test_a_mistyped_cadence_is_drawn_with_its_caret_and_where_it_stands(check):
    status, _, told = check(SOUND.replace("0 3 * * *", "0 24 * * *"))
    first, shown, carets, place = told.splitlines()

    assert status == 1
    assert first == "duetime: checked_app.nightly: hour: 24 is out of range; use 0-23"
    assert shown[carets.index("^") : len(carets)] == "24"
    assert place.startswith("    at ")
    assert place.endswith("checked_app.py, line 9")


@pytest.mark.parametrize(
    ("option", "told_so"),
    [
        ("catchup=1", "a job takes no catchup=; did you mean catch_up?"),
        ('timezone="Europe/Paris"', 'cron(…, tz="Europe/Paris")'),
        ("frob=1", "its options are name, payload, retry"),
    ],
)
def test_an_option_that_no_job_has_is_told_with_what_was_meant_and_where(check, option, told_so):
    status, _, told = check(SOUND.replace('name="billing-nightly"', option))

    assert status == 1
    assert told_so in told
    assert "checked_app.py, line 9" in told


def test_a_job_that_may_surprise_is_noted_and_is_no_problem(check):
    status, printed, _ = check(SOUND.replace("0 3 * * *", "*/7 * * * *"))

    assert status == 0
    assert "note: billing-nightly: 'cron */7 * * * *': */7 begins anew each hour" in printed
