"""The runbook: it has a page for each alarm, and each of its commands is there."""

import re
import shlex

import botocore.session
from botocore import xform_name

from duetime.cli.main import parser
from duetime.cli.parser import expand
from tests.cases import for_each
from tests.infra.alarms import alarms as alarms  # noqa: PLC0414 - a fixture
from tests.infra.alarms import alarms_of
from tests.infra.alarms import synthesised as synthesised  # noqa: PLC0414
from tests.infra.synthesis import ROOT, made_with, text

RUNBOOK = (ROOT / "docs/runbook.md").read_text()


def headings(page):
    return {
        re.sub(r"[^\w\- ]", "", match).strip().lower().replace(" ", "-")
        for match in re.findall(r"^#+ (.+)$", page, re.MULTILINE)
    }


def test_each_alarm_names_its_section_of_the_runbook(alarms):
    for name, alarm in alarms.items():
        description = text(alarm["AlarmDescription"])
        [anchor] = re.findall(r"^`duetime deployment runbook ([\w-]+)`: \S", description)
        assert anchor in headings(RUNBOOK), name
        assert len(description) <= 1_024
        assert "\n" not in description


def test_each_alarm_ends_with_the_consoles_address(alarms):
    for alarm in alarms.values():
        assert re.search(r" \(console: https://\S+/prod/\)$", text(alarm["AlarmDescription"]))


def test_without_a_console_an_alarm_names_none():
    for alarm in alarms_of(made_with(api="people")).values():
        assert "console:" not in alarm["AlarmDescription"]


def test_alarms_and_the_console_have_the_runbooks_address():
    there = "https://wiki.example.com/duetime"
    made = made_with(runbook=there)
    for alarm in alarms_of(made).values():
        assert text(alarm["AlarmDescription"]).startswith(f"{there}#")
    assert made.environment("console")["DUETIME_RUNBOOK"] == there


def test_each_section_that_an_alarm_names_is_in_the_runbooks_list_of_alarms(alarms):
    listed = RUNBOOK.partition("## The alarms\n")[2].partition("\n## ")[0]
    linked = set(re.findall(r"\]\(#([\w-]+)\) \|$", listed, re.MULTILINE))
    assert linked == {
        re.findall(r"runbook ([\w-]+)`:", text(alarm["AlarmDescription"]))[0] for alarm in alarms.values()
    }


def test_the_runbook_names_each_alarm_by_its_ending(alarms):
    listed = RUNBOOK.partition("## The alarms\n")[2].partition("\n## ")[0]
    named = [match.rpartition("…")[2].rpartition(">")[2] for match in re.findall(r"`([\w…<>-]+)`", listed)]
    for name in alarms:
        assert any(ending and name.endswith(ending) for ending in named), name


def commands():
    blocks = re.findall(r"^```sh\n(.*?)^```", RUNBOOK, re.MULTILINE | re.DOTALL)
    lines = [line for block in blocks for line in block.splitlines() if line.startswith("duetime ")]
    spans = re.findall(r"`(duetime (?:actions|jobs|dead-letters|undelivered|doctor|restore)[^`]*)`", RUNBOOK)
    return sorted({*lines, *spans})


@for_each("command", commands())
def test_each_command_of_the_runbook_is_one(command):
    parser().parse_args(expand(shlex.split(command.replace("NAME", "billing-nightly"))[1:]))


OF_THE_COMMAND_LINE_ALONE = {"logs tail": {"since", "filter-pattern"}, "dynamodb wait": {"table-name"}}
EVERYWHERE = {"query", "output", "max-items"}


def calls_of_aws():
    """(service, operation, options) of each command of AWS' own command line."""
    for called in re.findall(r"\baws ([a-z][^\n`]*)", RUNBOOK.replace("\\\n", " ")):
        service, operation, *rest = called.split()
        yield service, operation, {word[2:] for word in rest if re.fullmatch(r"--[a-z-]+", word)}


def test_each_call_of_aws_in_the_runbook_is_one_with_these_options():
    session = botocore.session.get_session()
    calls = list(calls_of_aws())
    assert len(calls) > len(OF_THE_COMMAND_LINE_ALONE)
    for service, operation, options in calls:
        known = OF_THE_COMMAND_LINE_ALONE.get(f"{service} {operation}")
        if known is None:
            model = session.get_service_model(service)
            [name] = [
                operation_name
                for operation_name in model.operation_names
                if xform_name(operation_name, "-") == operation
            ]
            shape = model.operation_model(name).input_shape
            known = {xform_name(member, "-") for member in (shape.members if shape else ())}
        assert options <= known | EVERYWHERE, (service, operation)


def test_the_runbook_lists_the_effects_of_each_failing_function(synthesised):
    section = RUNBOOK.partition("## A function fails\n")[2].partition("\n## ")[0]
    listed = set(re.findall(r"^\| `([\w-]+)(?:-…)?` \|", section, re.MULTILINE))
    there = {name.partition("-default")[0] for name in synthesised.functions()}
    assert there - listed == {"deploy"}
