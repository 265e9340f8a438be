"""With the profile small, a user of a crontab has twelve jobs, and sees no tenants, keys or grants."""

import json
import re

import pytest

from duetime.cli.main import main
from duetime.lambdas.loading import load_app
from duetime.local import LocalCloud, LocalOptions
from duetime.local.run_lines import RunLines
from duetime.local.welcome import welcome
from duetime.profiles import SMALL, with_profile
from duetime.settings import Settings
from tests.local.test_local_command import run_record

NEVER_SEEN = re.compile(r"tenant|concurrency|grant|acme|\bsystem\b", re.IGNORECASE)


@pytest.fixture(scope="module")
def cloud():
    options = LocalOptions(settings=with_profile(Settings(), SMALL))
    with LocalCloud(load_app("tests.infra.apps.crontab:app"), options) as cloud:
        yield cloud


@pytest.fixture
def duetime(cloud, capsys):
    def run(*words):
        assert main([*words, "--url", cloud.url]) == 0
        return capsys.readouterr().out

    return run


def test_every_command_of_a_crontabs_user_leaves_out_tenants_keys_and_grants(cloud, duetime):
    listed = duetime("jobs", "list")
    assert sum(name in listed for name in cloud.app.jobs) == len(cloud.app.jobs) == 12
    run_id = json.loads(duetime("jobs", "trigger", "db-backup", "--json"))["id"]
    printed = {
        "list": listed,
        "show": duetime("jobs", "show", "db-backup"),
        "history": duetime("jobs", "history", "db-backup"),
        "run": duetime("actions", "show", run_id),
        "actions": duetime("actions", "list"),
        "dead letters": duetime("dead-letters", "list"),
        "pause": duetime("jobs", "pause", "disk-check"),
        "doctor": duetime("doctor"),
        "welcome": welcome(cloud.app, cloud.settings, cloud.url),
    }
    assert "db-backup" in printed["show"]
    assert run_id in printed["run"]
    assert {name: NEVER_SEEN.findall(text) for name, text in printed.items() if NEVER_SEEN.search(text)} == {}


def test_a_callers_facts_leave_out_the_only_tenant(duetime):
    assert "tenant " not in duetime("access", "whoami")
    assert json.loads(duetime("access", "whoami", "--json"))["tenant_id"] == "default"


def test_code_schedules_and_lists_without_a_tenant(cloud):
    assert str(cloud.scheduler().tenant_id) == "default"


def test_a_line_of_a_run_leaves_out_the_only_tenant():
    line = RunLines(in_colour=False, shows_tenants=False).format(run_record(reason=None))
    assert line.endswith("…abcd1234  4 ms late, ran 1.5 s")


def test_mails_of_notifications_need_a_profile_with_events(capsys):
    words = [
        "local",
        "--app",
        "tests.infra.apps.crontab:app",
        "--profile",
        "small",
        "--mail-to",
        "a@b.example",
    ]
    assert main(words) == 2
    assert "but the profile small has no notifications; remove one" in capsys.readouterr().err
