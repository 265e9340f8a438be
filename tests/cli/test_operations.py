"""The table of commands agrees with the OpenAPI document: a command sends only what the API takes."""

import ast
import json
from argparse import ArgumentParser
from pathlib import Path

import pytest

import duetime.cli
from duetime.cli.arguments import CONNECTION
from duetime.cli.client import operations
from duetime.cli.commands import COMMANDS
from duetime.cli.output import Listing, Operation
from duetime.cli.parser import Group

DOCUMENT = json.loads((Path(__file__).parents[2] / "docs/openapi.json").read_text())
ROUTES = {
    route["operationId"]: (path, route)
    for path, routes in DOCUMENT["paths"].items()
    for route in routes.values()
}
OF_THE_COMMAND_LINE = {"help", "json", "watch", "yes"}
"""Arguments that say how a command runs; the API has no part in them."""

MADE_OF_OTHERS = {
    "actions pause": ({"type", "concurrency_key", "rate_key", "worker"}, {"scope", "name"}),
}
"""The arguments of commands that send them under other names."""

REDRIVES = ("redriveAction", "redriveActions")
WITH_WORK_OF_THEIR_OWN = {
    "schedule": (("scheduleAction",), set()),
    "actions show": (("getAction", "listTracebacks"), {"attempt"}),
    "actions cancel": (("cancelAction", "cancelActions"), set()),
    "actions resume": (("resumeWork",), {"type", "concurrency_key", "rate_key", "worker", "of_tenant"}),
    "actions limits": (("listLimits", "setLimit", "resetLimit"), {"type"}),
    "access grants": (("listGrants", "grantToRole", "revokeFromRole"), set()),
    "actions batches": (("listBatches", "getBatch", "closeBatch", "cancelBatch", "redriveBatch"), {"verb"}),
    "dead-letters list": (("listDeadLetters",), {"group_by"}),
    "dead-letters redrive": (REDRIVES, {"all", "staged"}),
    "dead-letters dismiss": (("dismissAction",), {"ids"}),
    "jobs show": (("getJob", "explainJob"), set()),
    "jobs history": (("listJobRuns",), set()),
    "jobs trigger": (("triggerJob",), set()),
    "jobs register": (
        ("registerJob", "replaceJob", "draftJob"),
        {"attempts", "backoff", "jitter", "given", "dry_run"},
    ),
    "jobs versions": (("listJobDefinitions", "getJobDefinition", "rollBackJob"), {"verb"}),
    "jobs backfill": (
        ("backfillJob", "previewBackfill", "listBackfills", "changeBackfill"),
        {"dry_run", "verb"},
    ),
    "undelivered list": (("listUndelivered", "getUndelivered"), set()),
    "notifications list": (("listNotifications", "getNotification"), set()),
    "undelivered redrive": (("redriveUndelivered",), {"all"}),
    "notifications read": (("readNotifications",), {"all"}),
    "notifications preferences": (
        ("getNotificationPreferences", "setNotificationPreferences"),
        {"email", "admin_email", "channel"},
    ),
    "access audit": (("listAuditEntries",), {"verb", "heads", "system", "prefix"}),
}
"""The operations of the commands that name a function, and the arguments that only the function reads."""

WITHOUT_ARGUMENTS_OF_THE_API = {"app", "deployment", "doctor", "outbox"}
"""The first words of commands that read the API, or that of the local cloud, and send it no argument."""


def commands(group=COMMANDS, path=""):
    for one in group:
        name = f"{path} {one.name}".strip()
        if isinstance(one, Group):
            yield from commands(one.commands, name)
        elif one.calls:
            yield name, one


CALLS = dict(commands())
TABLE = {name: one for name, one in CALLS.items() if isinstance(one.run, Operation | Listing)}


def arguments_of(parts):
    """The arguments of a command, as argparse makes them."""
    parser = ArgumentParser(add_help=False)
    for part in parts:
        part.add_to(parser)
    return {action.dest: action for action in parser._actions}


def schema_of(schema):
    while "$ref" in schema:
        schema = DOCUMENT["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    return schema


def takes(operation):
    """The parameters of the path, those of the query and the fields of the body, each with its schema."""
    route = ROUTES[operation][1]
    parameters = {one["name"]: one for one in route.get("parameters", ()) if one["in"] != "header"}
    path = {name.rpartition("_")[2]: one["schema"] for name, one in parameters.items() if one["in"] == "path"}
    query = {name: one["schema"] for name, one in parameters.items() if one["in"] == "query"}
    bodies = route.get("requestBody", {}).get("content", {}).values()
    bodies = [schema_of(body["schema"]) for body in bodies]
    fields = {name: field for body in bodies for name, field in body["properties"].items()}
    required = {name for name, one in parameters.items() if one["in"] == "query" and one.get("required")}
    return path, query | fields, required.union(*(body.get("required", ()) for body in bodies))


def kinds(schema):
    """The types and the values that a schema allows."""
    schema = schema_of(schema)
    parts = [schema, *map(schema_of, schema.get("anyOf", ())), *map(schema_of, schema.get("oneOf", ()))]
    types = {part["type"] for part in parts if "type" in part}
    return types, {value for part in parts for value in part.get("enum", ())}


def sent_beside(name):
    """What a command of one operation sends beside its arguments."""
    given = TABLE[name].run.given
    assert any(map(callable, given)) is (name in MADE_OF_OTHERS)
    made = {field for part in given if isinstance(part, dict) for field in part}
    return made | (MADE_OF_OTHERS[name][1] if name in MADE_OF_OTHERS else set())


def test_the_table_has_most_commands_of_the_api():
    assert len(TABLE) >= 20


def test_the_command_line_knows_the_operations_of_the_document():
    assert operations().keys() == ROUTES.keys()
    for name, operation in operations().items():
        path, others, _ = takes(name)
        assert {*operation.parameters, *operation.fields} == others.keys(), name
        assert all(f"{{{one}}}" in operation.path for one in path), name


@pytest.mark.parametrize("name", TABLE)
def test_a_command_sends_what_its_operation_takes(name):
    command = TABLE[name]
    path, others, required = takes(command.run.id)
    given = arguments_of(command.arguments)
    known = {*path, *others, *OF_THE_COMMAND_LINE, *MADE_OF_OTHERS.get(name, [()])[0]}
    assert given.keys() - known == set(), "arguments that the operation does not take"
    assert sent_beside(name) <= {*path, *others}, "values that the operation does not take"
    lacking = {*path, *required} - given.keys() - sent_beside(name)
    assert lacking == set(), "values that the operation needs, and the command has no argument for"
    optional = {
        one for one in required & given.keys() if not given[one].required and given[one].default is None
    }
    assert optional == set(), "options that the operation needs, and the command does not require"


@pytest.mark.parametrize("name", [name for name in CALLS if name not in TABLE])
def test_a_command_with_work_of_its_own_sends_what_its_operations_take(name):
    if name.split()[0] in WITHOUT_ARGUMENTS_OF_THE_API:
        return
    ids, own = WITH_WORK_OF_THEIR_OWN[name]
    taken = {argument for one in ids for part in takes(one)[:2] for argument in part}
    given = arguments_of(CALLS[name].arguments).keys() - OF_THE_COMMAND_LINE
    assert given - taken == own, "what the operations do not take is what the function reads"


@pytest.mark.parametrize("name", TABLE)
def test_an_option_allows_what_its_parameter_allows(name):
    _, others, _ = takes(TABLE[name].run.id)
    for dest, action in arguments_of(TABLE[name].arguments).items():
        types, values = kinds(others.get(dest, {}))
        if action.choices and values:
            assert {*action.choices} <= values, dest
        if types and action.type in {int, float}:
            assert types & {"integer", "number"}, dest
        if types and action.nargs in {"+", "*"}:
            assert "array" in types, dest


@pytest.mark.parametrize("name", TABLE)
def test_no_option_of_the_connection_is_sent(name):
    _, others, _ = takes(TABLE[name].run.id)
    assert arguments_of(CONNECTION).keys() & others.keys() == set()


def test_every_operation_that_the_code_names_exists():
    calls = {"call": 0, "pages": 0, "Operation": 0, "Listing": 0}
    for file in Path(duetime.cli.__file__).parent.glob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
                function = getattr(node.func, "attr", getattr(node.func, "id", ""))
                if function in calls:
                    calls[function] += 1
                    assert node.args[0].value in ROUTES, f"{file.name}, line {node.lineno}"
    assert all(calls.values())
