"""The first hours of those who begin with the README, the tutorial or the example project."""

import re
import shutil
import urllib.request

import pytest

from tests.first_hours.pages import code, commands, files, section
from tests.supply.project import ROOT

pytestmark = pytest.mark.hours


def test_the_code_and_the_commands_of_the_readme_run_as_they_stand(folder):
    begin = section("README.md", "## Begin")
    [example], [install, local, schedule] = code(begin, "python"), commands(begin)
    folder.install(install)
    folder.write("reminders.py", example)
    with folder.local_cloud(local) as terminal:
        page = urllib.request.urlopen(f"{terminal['DUETIME_URL']}/").read().decode()  # noqa: S310 - our own
        assert re.search(r'src="(?:\./|/)?assets/[^"]+\.js"', page)
        output = folder.run(schedule, **terminal)
        assert "reminders-clean-up" in folder.run("duetime jobs list", **terminal)
    [shown] = code(begin, "text")
    for line in shown.splitlines():
        assert line.split()[0] in output


def step(number):
    return section("docs/tutorial.md", f"## {number}.")


def test_the_tutorial_leads_to_executed_actions_on_the_local_cloud_and_to_a_stack(folder):
    *_, install = commands(step(1))
    folder.install(install)
    for name, text in files(step(2)).items():
        folder.write(name, text)
    for command in commands(step(3)):
        assert "reminders-clean-up" in folder.run(command)
    [local] = commands(step(4))
    with folder.local_cloud(local) as terminal:
        wide = terminal | {"COLUMNS": "120"}
        outputs = [folder.run(command, **wide) for command in commands(step(5))]
        busy = re.search(r"scheduled (\S+),", outputs[1])[1]
        assert "retry" in folder.run(f"duetime actions show {busy}", **terminal)
    actions = outputs[4]
    assert actions.count("executed") >= 2
    assert "order:18" in actions
    assert "reminders-clean-up" in outputs[-1]

    for name, text in files(step(6)).items():
        folder.write(name, text)
    write_configuration, *_ = commands(step(6))
    folder.run(write_configuration)
    template = folder.synthesised("Reminders")
    assert '"duetime-work-default"' in template
    assert "reminders-clean-up" in template


def test_on_aws_the_tutorial_runs_a_command_of_the_local_cloud():
    there = [command for command in commands(step(6)) if command.startswith("duetime schedule")]
    assert there
    assert {*there} <= {*commands(step(5))}


def test_the_example_project_passes_its_own_checks(folder):
    shutil.copytree(
        ROOT / "examples/starter",
        folder.directory,
        ignore=shutil.ignore_patterns("__pycache__", ".*"),
        dirs_exist_ok=True,
    )
    venv, install, *checks, local, _deploy = commands(section("examples/starter/README.md"))
    assert "venv" in venv
    folder.install(install)
    outputs = dict(zip(checks, map(folder.run, checks), strict=True))
    assert re.search(r"[1-9]\d* passed", outputs["pytest"])
    assert "no issues found" in outputs["mypy"]
    with folder.local_cloud(local) as terminal:
        assert "no actions" in folder.run("duetime actions list", **terminal)
    folder.synthesised("Shop")
    assert [*folder.directory.glob("cdk.out/asset.*/shop/handlers.py")]
