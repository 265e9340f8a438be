"""The command line is conventional: help, a version, aliases, suggestions, ``--json`` anywhere."""

import json
from importlib.metadata import version

import pytest

from duetime.cli.main import parser
from duetime.cli.parser import json_at_end


def test_without_arguments_the_help_is_printed(duetime):
    status, printed, errors = duetime.bare()
    assert (status, errors) == (0, "")
    assert printed == duetime.bare("--help")[1]


def test_the_version_is_that_of_the_package(duetime):
    assert duetime.bare("--version") == (0, f"duetime {version('duetime')}\n", "")


@pytest.mark.parametrize("words", [(), ("jobs",), ("jobs", "pause"), ("schedule",)])
def test_help_prints_what_the_option_prints(duetime, words):
    status, printed, errors = duetime.bare("help", *words)
    assert (status, errors) == (0, "")
    assert printed == duetime.bare(*words, "--help")[1]


@pytest.mark.parametrize("command", ["actions", "jobs", "dead-letters", "undelivered", "notifications"])
def test_ls_is_list(command):
    command_line = parser()
    assert command_line.parse_args([command, "ls"]) == command_line.parse_args([command, "list"])


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["actoins"], "'duetime' has no command 'actoins'; did you mean 'actions'?"),
        (["jobs", "puase"], "'duetime jobs' has no command 'puase'; did you mean 'pause'?"),
        (["help", "job"], "did you mean 'jobs'?"),
        (["dead-letters", "xyzzy"], "'duetime dead-letters' has no command 'xyzzy'; it has: list,"),
        (["undelivered", "redrive", "--all", "--kind", "wakes"], "did you mean 'wake'?"),
        (["jobs"], "'duetime jobs' needs a command; it has: list, ls,"),
        (["--verson"], "'duetime' has no option '--verson'; did you mean '--version'?"),
        (
            ["jobs", "list", "--tenat=acme"],
            "'duetime jobs list' has no option '--tenat'; did you mean '--tenant'",
        ),
        (["actions", "reschedule", "ID", "--inn", "3s"], "has no option '--inn'; did you mean '--in'?"),
        (["actions", "list", "--xyzzy"], "no option '--xyzzy'; `duetime actions list --help` shows how"),
        (["actions", "list", "failed"], "'duetime actions list' does not take 'failed'; `duetime actions"),
    ],
)
def test_a_misspelt_command_option_or_value_gets_a_suggestion(duetime, words, expected):
    status, printed, errors = duetime.bare(*words)
    assert (status, printed) == (2, "")
    assert expected in errors
    assert errors.count("\n") == 1


@pytest.mark.parametrize(
    "words",
    [
        ("jobs", "show", "biling-nightly"),
        ("jobs", "pause", "billing-nihgtly"),
        ("actions", "list", "--job", "billing-nightli"),
    ],
)
def test_a_misspelt_job_gets_a_suggestion(duetime, words):
    status, _, errors = duetime(*words)
    assert status == 1
    assert errors.endswith("; did you mean 'billing-nightly'?\n")
    assert errors.count("\n") == 1


def test_a_job_like_no_other_gets_no_suggestion(duetime):
    _, _, errors = duetime("jobs", "show", "zzz")
    assert "did you mean" not in errors


def test_a_misspelt_type_gets_a_suggestion(duetime):
    status, _, errors = duetime("schedule", "remrak")
    assert status == 1
    assert "known are: doomed, remark; did you mean 'remark'?" in errors


@pytest.mark.parametrize(
    "words", [("--json", "jobs", "list"), ("jobs", "--json", "list"), ("jobs", "list", "--json")]
)
def test_json_is_accepted_anywhere(duetime, words):
    status, printed, errors = duetime(*words)
    assert (status, errors) == (0, "")
    listed = duetime.json("jobs", "list")
    names = [[job["name"] for job in jobs["items"]] for jobs in (json.loads(printed), listed)]
    assert names[0] == names[1] != []


def test_json_may_be_between_ids(duetime):
    ids = [duetime.json("schedule", "remark", "--in", "1d")["id"] for _ in range(2)]
    status, printed, _ = duetime("actions", "cancel", ids[0], "--json", ids[1])
    assert status == 0
    assert [action["id"] for action in json.loads(printed)["changed"]] == ids


def test_after_two_dashes_json_is_no_option():
    assert json_at_end(["a", "--json", "--", "--json"]) == ["a", "--json", "--", "--json"]
    assert json_at_end(["a", "--", "--json"]) == ["a", "--", "--json"]


def test_the_runbook_is_printed_as_json(duetime):
    _, printed, _ = duetime.bare("--json", "deployment", "runbook")
    assert "dead-letters" in json.loads(printed)["sections"]
    _, printed, _ = duetime.bare("deployment", "runbook", "dead-letters", "--json")
    section = json.loads(printed)
    assert section["section"] == "dead-letters"
    assert section["text"].startswith("## ")


def test_a_hint_names_the_job(duetime):
    _, printed, _ = duetime("jobs", "show", "billing-nightly")
    hint = next(line for line in printed.splitlines() if line.startswith("list its occurrences: duetime "))
    status, printed, _ = duetime(*hint.removeprefix("list its occurrences: duetime ").split())
    assert status == 0
    assert "NOMINAL TIME" in printed
