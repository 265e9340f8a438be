"""The page of features names what is there: each door, each test, each place that it leads to."""

import ast
import json
import re
from dataclasses import fields
from functools import cache
from importlib import import_module
from inspect import Parameter, signature
from pathlib import Path

import pytest

from duetime.cadence.modifiers import CadenceOptions
from duetime.cdk import Deployment
from duetime.cli.main import parser
from duetime.declare.job_declaration import JobOptions
from duetime.jobs.jobs import Jobs
from duetime.model.selection import Filters
from duetime.settings import Settings
from tests.cli.command_tree import commands_of
from tests.docs.features_page import HEAD, PAGE, rows

ROOT = Path(__file__).parents[2]
GROUPS = {"A": 16, "J": 30, "R": 16, "O": 16, "K": 5}
"""How many there are of each: a feature keeps its id, and none is taken off the page."""
ROWS = rows()
DOORS = sorted({door for row in ROWS for door in row.doors()})
TESTS = sorted({test for row in ROWS for test in row.tests()}, key=str)
PLACES = sorted({place for row in ROWS for place in row.places()}, key=str)

COMMANDS = {
    f"duetime {each.path}".strip(): {name for option in each.options for name in option.names}
    for each in commands_of(parser())
}
ROUTES = {
    f"{method.upper()} {path}"
    for path, methods in json.loads((ROOT / "docs/openapi.json").read_text())["paths"].items()
    for method in methods
}
SETTINGS = {field.name for whole in (Settings, Deployment) for field in fields(whole)}
BARE = {"cdk deploy"} | {
    f"make {match}" for match in re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
}
SCREENS = dict(
    re.findall(
        r"^const (ALL|ONE)\b[^\n]*= \{\n(.*?)^\};",
        (ROOT / "console/src/app.tsx").read_text(),
        re.MULTILINE | re.DOTALL,
    )
)
CONSOLE = {
    f"#/{name}{rest}"
    for table, rest in (("ALL", ""), ("ONE", "/"))
    for name in re.findall(r"^  \"?([\w-]*)\"?: \w+,$", SCREENS[table], re.MULTILINE)
}
LED_TO = {"jobs": Jobs}
"""What a property leads to: its annotation is for the type checker alone."""
TAKEN = {
    "list": Filters.__annotations__,
    "job": JobOptions.__dataclass_fields__,
    "daily": CadenceOptions.__annotations__,
}
"""What functions take as ``**options``."""


@cache
def functions_in(path: str) -> frozenset[str]:
    """The names of a module's functions, methods included."""
    tree = ast.walk(ast.parse((ROOT / path).read_text()))
    return frozenset(each.name for each in tree if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef))


@cache
def anchors_in(page: str) -> frozenset[str]:
    """The anchors of a page's headings."""
    headings = re.findall(r"^#+ (.+)$", (ROOT / "docs" / page).read_text(), re.MULTILINE)
    return frozenset(
        re.sub(r"[^\w\- ]", "", heading).strip().lower().replace(" ", "-") for heading in headings
    )


def found(name: str) -> object:
    """What an SDK's name stands for: of the package itself, or of the module that it begins with."""
    parts = name.split(".") if name.startswith("duetime.") else ["duetime", *name.split(".")]
    modules = [place for place in range(len(parts), 0, -1) if is_module(".".join(parts[:place]))]
    thing = import_module(".".join(parts[: modules[0]]))
    for part in parts[modules[0] :]:
        thing = LED_TO.get(part) or getattr(thing, part)
    return thing


def is_module(name: str) -> bool:
    path = ROOT / "src" / name.replace(".", "/")
    return path.with_suffix(".py").is_file() or (path / "__init__.py").is_file()


def takes(thing: object, option: str) -> bool:
    """Whether a function or class can be called with an option of that name."""
    taken = signature(thing).parameters
    is_open = any(each.kind is Parameter.VAR_KEYWORD for each in taken.values())
    return option in taken or (is_open and option in TAKEN.get(thing.__name__, ()))


def is_part_of_the_sdk(name: str) -> bool:
    name, _, option = name.removesuffix("=…)").partition("(")
    return takes(found(name), option) if option else found(name) is not None


def is_command(name: str) -> bool:
    command, _, option = name.partition(" --")
    return command in COMMANDS and (not option or f"--{option}" in COMMANDS[command])


CAN_BE_GONE_THROUGH = {
    "SDK": is_part_of_the_sdk,
    "CLI": is_command,
    "HTTP": ROUTES.__contains__,
    "console": lambda name: re.sub(r"(NAME|ID)$", "", name) in CONSOLE,
    "setting": SETTINGS.__contains__,
    "": BARE.__contains__,
}


def test_every_feature_has_a_row_and_its_id_for_good():
    assert [row.id for row in ROWS] == [
        f"{group}{number}" for group, last in GROUPS.items() for number in range(1, last + 1)
    ]


def test_every_table_has_the_same_columns_and_no_row_is_written_otherwise():
    text = PAGE.read_text()
    assert text.count(HEAD) == len(GROUPS)
    assert len(re.findall(r"^\| [A-Z]\d", text, re.MULTILINE)) == len(ROWS)


@pytest.mark.parametrize(("kind", "name"), DOORS, ids=map(" ".join, DOORS))
def test_a_door_is_there(kind, name):
    assert CAN_BE_GONE_THROUGH[kind](name)


@pytest.mark.parametrize(("path", "function"), TESTS, ids=lambda each: each or "whole")
def test_a_test_that_shows_a_feature_is_there(path, function):
    assert path.startswith(("tests/", "src/duetime/testing/contract/"))
    assert any(each.startswith("test_") for each in functions_in(path))
    assert function is None or function in functions_in(path)


@pytest.mark.parametrize(("page", "anchor"), PLACES, ids=lambda each: each or "top")
def test_a_page_that_tells_more_is_there(page, anchor):
    assert anchor is None or anchor in anchors_in(page)
