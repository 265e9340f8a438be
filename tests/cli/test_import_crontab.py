"""``duetime app import-crontab``: the module, runs beside cron's, lines that cannot become jobs."""

import importlib.util
import sys
from datetime import UTC, datetime, timedelta
from itertools import islice

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from duetime.cadence import InvalidCadence, cron
from duetime.cli import main
from duetime.cli.import_crontab import cron_runs
from tests.cadence.strategies import fields

CRONTAB = """\
# m h dom mon dow command
SHELL=/bin/bash
MAILTO="ops@acme.example"

# the nightly backup
30 2 * * * echo backup >> {out}
*/15 9-17 * * 1-5 cd /srv/app && ./manage.py send_mails
0 0 1,15 * 1 /opt/report
NAME = 'a "b"'
0 4 */2 * mon python3 /opt/odd.py
@daily cat >> {out} %Hello $NAME%World 100\\%
CRON_TZ=America/New_York
-0 8 * * sun FOO=1 /opt/report
"""


@pytest.fixture
def imported(tmp_path, capsys):
    """Return a function that imports a crontab, and returns the status, the output and the errors."""

    def run(text, *options):
        file = tmp_path / "crontab"
        file.write_text(text.format(out=tmp_path / "out"))
        status = main(["app", "import-crontab", str(file), *options])
        return (status, *capsys.readouterr())

    return run


def module_of(text, tmp_path):
    file = tmp_path / "imported_jobs.py"
    file.write_text(text)
    spec = importlib.util.spec_from_file_location("imported_jobs", file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_each_entry_becomes_a_job_with_the_runs_that_cron_would_start(imported, tmp_path):
    status, module, errors = imported(CRONTAB, "--day-rule", "cron", "--tz", "Europe/Paris")
    rows = [line.split() for line in errors.splitlines()]
    assert status == 0
    assert [row[1] for row in rows[1:]] == [
        "cron-echo",
        "cron-manage",
        "cron-report",
        "cron-odd",
        "cron-cat",
        "cron-report-2",
    ]
    assert all(row[-2:] == ["the", "same"] for row in rows[1:])
    jobs = module_of(module, tmp_path).app.jobs
    assert jobs["cron-report-2"].cadences == ("cron 0 8 * * SUN tz=America/New_York",)


def test_the_module_passes_the_check(imported, tmp_path, monkeypatch, capsys):
    _, module, _ = imported(CRONTAB, "--day-rule", "cron")
    (tmp_path / "imported_app.py").write_text(module)
    monkeypatch.syspath_prepend(tmp_path)
    assert main(["app", "check", "--app", "imported_app:app"]) == 0
    assert "no problems" in capsys.readouterr().out
    sys.modules.pop("imported_app")


def test_a_function_runs_its_command_with_variables_and_standard_input(imported, tmp_path):
    _, text, _ = imported(CRONTAB, "--day-rule", "cron")
    module = module_of(text, tmp_path)
    module.cron_echo()
    module.cron_cat()
    assert (tmp_path / "out").read_text() == "backup\nHello $NAME\nWorld 100%\n"
    with pytest.raises(Exception, match="non-zero exit status"):
        module.cron_report()


def test_comments_users_and_addresses_are_kept(imported):
    status, module, _ = imported(
        "MAILTO=ops@acme.example\n# hourly\n# run-parts\n17 * * * * root run-parts /etc/cron.hourly\n",
        "--system",
    )
    assert status == 0
    assert "# hourly\n# run-parts\n# line 4, by the user root\n@app.job(" in module
    assert 'run_command("run-parts /etc/cron.hourly")' in module
    assert "MAILTO was ops@acme.example" in module


def test_a_user_that_is_read_as_a_command_is_noted(imported):
    _, _, errors = imported("17 * * * * root run-parts /etc/cron.hourly\n")
    assert "line 1: 'root' looks like a user; give --system if it is one" in errors


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ("@reboot /opt/start", "line 1: @reboot names no time"),
        (
            "0 0 1 * 1 /opt/x",
            "cron combines by 'or'; give --day-rule cron to keep that, or --day-rule and|or",
        ),
        ("0 0 */2 * 1 /opt/x", "cron combines by 'and'"),
        ("61 * * * * /opt/x", "line 1: minute: 61 is out of range; use 0-59"),
        ("0 0 * *", "line 1: '0 0 * *' is no entry; write five fields and a command"),
        ("@daily", "line 1: '@daily' is no entry; write a time and a command"),
        ("@fortnightly /opt/x", "line 1: there is no @fortnightly"),
        ("CRON_TZ=Mars/X\n0 0 * * * /opt/x", "line 2: there is no time zone 'Mars/X'"),
    ],
)
def test_a_line_that_cannot_become_a_job_is_rejected_unless_left_out(imported, lines, expected):
    status, module, errors = imported(f"{lines}\n")
    assert (status, module) == (2, "")
    assert expected in errors
    status, module, errors = imported(f"@hourly /opt/good\n{lines}\n", "--skip")
    assert status == 0
    assert "cron-good" in module
    assert "left out: line" in errors


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["{file}"], "has no entry that can become a job"),
        (["nowhere"], "nowhere cannot be read"),
        (["{file}", "--tz", "CET5"], "--tz: there is no time zone 'CET5'"),
    ],
)
def test_other_mistakes_are_bad_usage(tmp_path, capsys, words, expected):
    file = tmp_path / "crontab"
    file.write_text("# nothing\n")
    assert main(["app", "import-crontab", *(word.format(file=file) for word in words)]) == 2
    assert expected in capsys.readouterr().err


def test_a_cadence_that_differs_from_cron_at_a_change_of_the_clocks_keeps_crons_rule(imported):
    _, module, errors = imported("*/20 2 * * * /opt/often\n30 2 * * * /opt/nightly\n", "--tz", "Europe/Paris")
    assert 'cron("*/20 2 * * *", dst="vixie")' in module
    assert 'cron("30 2 * * *")' in module
    assert errors.count("the same") == 2


ZONES = st.sampled_from(["Europe/Paris", "America/New_York", "Australia/Lord_Howe", "UTC"])
CHANGES = st.sampled_from(
    [(2027, 3, 13), (2027, 3, 27), (2027, 10, 30), (2027, 11, 6), (2027, 4, 3), (2027, 10, 2)]
)
plain = st.tuples(fields(0, 59), fields(0, 23), fields(1, 28), fields(1, 12), fields(0, 6)).map(" ".join)


@given(plain, ZONES, CHANGES)
def test_the_evaluator_and_the_cadences_agree_on_what_cron_would_do(schedule, tz, day):
    _, _, date, _, weekday = schedule.split()
    assume("*" in (date, weekday))
    try:
        cadence = cron(schedule, tz=tz, dst="vixie")
    except InvalidCadence:
        assume(False)
    assume(not any(wraps(text) for text in schedule.split()))
    start = datetime(*day, tzinfo=UTC)
    expected = [*islice(cadence.between(start, start + timedelta(days=400)), 12)]
    assert [*islice(cron_runs(schedule, tz, start), len(expected))] == expected


def wraps(text):
    """Return whether a range ends before it begins: cron rejects it."""
    for item in text.split(","):
        first, _, last = item.partition("/")[0].partition("-")
        if last and int(first) > int(last):
            return True
    return False
