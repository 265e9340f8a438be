"""The command that prints the runbook, which alarms and the doctor name."""

from pathlib import Path

import pytest

from duetime.cli.doctor import SECTIONS
from duetime.cli.main import main


@pytest.fixture
def runbook(capsys):
    """Runs the command; returns its status, and what it printed and reported."""

    def run(*words):
        status = main(["deployment", "runbook", *words])
        return status, *capsys.readouterr()

    return run


def test_a_section_is_printed_with_its_subsections_and_without_the_next(runbook):
    status, printed, _ = runbook("dead-letters")
    assert status == 0
    assert printed.startswith("## Dead letters\n")
    assert printed.count("\n## ") == 0
    page = (Path(__file__).parents[2] / "docs/runbook.md").read_text()
    assert printed.strip() in page


@pytest.mark.parametrize("heading", SECTIONS)
def test_each_section_that_the_doctor_names_is_printed_by_its_heading(runbook, heading):
    status, printed, _ = runbook(heading)
    assert (status, printed.splitlines()[0]) == (0, f"## {heading}")


def test_without_a_section_a_command_for_each_is_listed(runbook):
    status, printed, _ = runbook()
    assert status == 0
    assert "duetime deployment runbook the-switch" in printed.splitlines()
    for command in printed.splitlines():
        assert runbook(*command.split()[3:])[0] == 0


def test_an_unknown_section_is_rejected_with_near_ones(runbook):
    status, _, reported = runbook("dead-leters")
    assert status == 2
    assert "no section 'dead-leters'; did you mean 'dead-letters'? `duetime deployment" in reported
