import json
import logging
import re
import shlex
import signal
import socket
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from duetime.cli import main
from duetime.cli.local import given_settings
from duetime.cli.main import parser
from duetime.local.run_lines import RunLines
from duetime.settings import Settings
from tests.local.conftest import PATIENCE

ROOT = Path(__file__).parents[2]
DUETIME = [sys.executable, "-m", "duetime"]


@pytest.fixture
def run(monkeypatch, capsys):
    """Return a function that runs a command, and returns its status and its lines on standard error."""
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr(sys, "path", list(sys.path))

    def run(*words):
        try:
            status = main(["local", *words])
        except SystemExit as ended:
            status = ended.code
        return status, capsys.readouterr().err.strip().splitlines()

    return run


@pytest.mark.long
def test_the_command_suggests_a_call_runs_it_and_stops_cleanly(tmp_path):
    folder = str(tmp_path / "data")
    command = [*DUETIME, "local", "--app", "examples.billing:app", "--port", "0", "--data", folder]
    with subprocess.Popen(  # noqa: S603 - our own program
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as cloud:
        try:
            output = read_until(cloud, "Ctrl-C")
            (suggested,) = (line.strip() for line in output if "duetime schedule" in line)
            soon = suggested.replace("--in 3s", "--in 0s")
            subprocess.run([*DUETIME, *shlex.split(soon)[1:]], check=True, capture_output=True)  # noqa: S603 - as above
            (ran,) = read_until(cloud, "late, ran", "apply-plan-change")[-1:]
            assert re.match(
                r"\d\d:\d\d:\d\d\.\d{3}  executed +apply-plan-change +…\w{8}  acme .* late, ran ", ran
            )
            (exports,) = re.findall(r'eval "\$\(curl -s (\S+)\)"', "".join(output))
            with urllib.request.urlopen(exports) as answer:  # noqa: S310 - our own server
                script = f'{answer.read().decode()}"$0" -c "$1"'
            program = (
                "from duetime import Scheduler; print(len([*Scheduler.from_env(tenant_id='acme').list()]))"
            )
            call = ["sh", "-c", script, sys.executable, program]
            assert subprocess.run(call, check=True, capture_output=True).stdout == b"1\n"  # noqa: S603 - as above
            assert output[0] == "starting a local cloud for examples.billing:app\n"
            assert any("deployed        jobs: 4 added" in line for line in output)
            assert any("/outbox, or" in line for line in output)
            assert f"  {folder} has no action that waits.\n" in output
            assert any("billing-clean-up " in line and "03:15" in line and "next " in line for line in output)
            assert any(line.strip().startswith("duetime jobs trigger billing-") for line in output)
            cloud.send_signal(signal.SIGINT)
            rest, _ = cloud.communicate(timeout=PATIENCE)
        finally:
            cloud.kill()
    assert cloud.returncode == 0
    assert "Traceback" not in rest


def read_until(process, *words):
    lines = []
    for line in process.stdout:
        lines.append(line)
        if all(word in line for word in words):
            return lines
    raise AssertionError(f"{words} is not in {lines}")


def test_a_port_in_use_is_an_error_on_one_line(run):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        status, (line,) = run("--app", "examples.billing:app", "--port", str(port))
    assert status == 1
    assert f"port {port} is in use" in line
    assert "--port" in line


@pytest.mark.parametrize(
    ("app", "expected"),
    [
        ("examples.missing:app", "No module named 'examples.missing'"),
        ("examples.billing:nothing", "has no 'nothing'"),
        ("examples.billing:RetryPolicy", "not a duetime.App"),
        ("tests.local.apps.empty:app", "registers no handler"),
        ("tests.local.apps.broken:app", "ZeroDivisionError"),
    ],
)
def test_an_app_that_cannot_be_imported_is_an_error_with_its_source_line(run, app, expected):
    status, (line, *locations) = run("--app", app)
    assert status == 1
    assert expected in line
    assert [location.strip().split(" ")[0] for location in locations] == ["at"] * ("broken" in app)


@pytest.mark.parametrize(
    "words",
    [
        ["--port", "70000"],
        ["--port", "-1"],
        ["--concurrency", "0"],
        ["--set", "lease=soon"],
        ["--set", "lease=1s"],
        ["--set", "near_limit=3h"],
        ["--mail-to", "unknown"],
        ["--nonsense"],
    ],
)
def test_bad_usage_is_printed_on_one_line(run, words):
    status, (line,) = run("--app", "examples.billing:app", *words)
    assert status == 2
    assert line.startswith("duetime: ")


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["--set", 'roles={"viewers": "actions:read"'], "is not JSON: "),
        (["--set", 'roles={"viewers": ["actions:read"]}'], "is not a JSON object of texts, such as"),
        (["--set", "roles=missing.json"], "is neither a JSON object nor a readable file: No such file"),
        (["--set", "roles=pyproject.toml"], "'pyproject.toml' is not JSON"),
        (
            ["--set", 'roles={"viewers": "actions:write"}'],
            "roles gives 'viewers' actions:write; permissions are",
        ),
        (["--set", 'identities={"arn:aws:iam::1:role/till": "#"}'], "its first word, the tenant, "),
        (["--set", "identities=[]"], "is neither a JSON object"),
        (["--set", "authorization=none"], "authorization is 'none'; allowed"),
    ],
)
def test_invalid_roles_and_identities_are_bad_usage(run, words, expected):
    status, (line,) = run("--app", "examples.billing:app", *words)
    assert status == 2
    assert line.startswith("duetime: ")
    assert expected in line


def test_the_access_settings_are_json_or_a_file(tmp_path):
    roles, arn = tmp_path / "roles.json", "arn:aws:iam::123456789012:role/till"
    roles.write_text('{"viewers": "actions:read"}')
    given = (
        f"roles={roles}",
        f'identities={{"{arn}": "acme viewers"}}',
        "required_role=staff",
        "authorization=allow-all",
    )
    words = [word for text in given for word in ("--set", text)]
    output = parser().parse_args(["local", "--app", "examples.billing:app", *words])
    assert Settings(**given_settings(output)) == Settings(
        roles={"viewers": "actions:read"},
        identities={arn: "acme viewers"},
        required_role="staff",
        authorization="allow-all",
    )


def test_the_local_cloud_applies_the_permissions_of_its_roles():
    roles = '{"admins": "admin", "viewers": "actions:read"}'
    command = [*DUETIME, "local", "--app", "examples.billing:app", "--port", "0", "--set", f"roles={roles}"]
    with subprocess.Popen(  # noqa: S603 - our own program
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as cloud:
        try:
            output = "".join(read_until(cloud, "Ctrl-C"))
            (url,) = re.findall(r"at (http://127\.0\.0\.1:\d+)", output)
            permissions = {}
            for role in ("viewers", "operators", "admins"):
                query = urllib.request.Request(f"{url}/api/v1/me", headers={"X-Duetime-Groups": role})  # noqa: S310
                with urllib.request.urlopen(query, timeout=PATIENCE) as answer:  # noqa: S310 - this machine
                    permissions[role] = json.load(answer)["permissions"]
        finally:
            cloud.kill()
    assert permissions["viewers"] == ["actions:read"]
    assert permissions["operators"] == []
    assert "admin" in permissions["admins"]


def test_an_app_option_that_is_not_module_name_is_bad_usage(run):
    status, (line,) = run("--app", "examples.billing")
    assert status == 2
    assert "is not module:name" in line


def run_record(**more):
    values = {
        "action": "0" * 28 + "abcd1234",
        "tenant": "acme",
        "type": "send-receipt",
        "late_ms": 4.2,
        "ran_ms": 1_500,
    }
    return logging.makeLogRecord(
        {"name": "duetime.worker.worker", "levelno": logging.INFO, "msg": "retried", **values, **more}
    )


def test_a_run_that_is_late_by_hours_or_days_has_them_in_its_line():
    line = RunLines(in_colour=False).format(run_record(late_ms=2 * 86_400_000 + 5_000))
    assert line.endswith("  2d5s late, ran 1.5 s")


def test_a_run_is_one_line_with_any_reason():
    line = RunLines(in_colour=False).format(run_record(reason="first\nsecond"))
    assert line.endswith("…abcd1234  acme        4 ms late, ran 1.5 s: first second")
    assert "\n" not in line


def test_each_change_of_a_deploy_is_a_line():
    record = {"name": "duetime.local.news", "levelno": logging.INFO, "msg": "jobs: 3 added"}
    line = RunLines(in_colour=True).format(logging.makeLogRecord(record))
    assert line.endswith("  deployed        jobs: 3 added")


def test_colour_is_for_terminals():
    assert "\033[33m" in RunLines(in_colour=True).format(run_record(reason=None))
    assert "\033" not in RunLines(in_colour=False).format(run_record(reason=None))
