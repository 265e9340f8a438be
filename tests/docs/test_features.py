"""`docs/features.md` names only interfaces, tests and pages that exist."""

import ast
import json
import re
from functools import cache
from importlib import import_module
from inspect import Parameter, signature
from pathlib import Path

from duetime.cadence.modifiers import CadenceOptions
from duetime.cdk.settings_doc import groups
from duetime.cli.main import parser
from duetime.declare.job_options import JobOptions
from duetime.jobs.jobs import Jobs
from duetime.model.selection import Filters
from tests.cli.command_tree import commands_of
from tests.docs.features_page import features
from tools.commands import COMMANDS as CONTRIBUTORS

ROOT = Path(__file__).parents[2]
GROUPS = {"A": 19, "J": 31, "R": 16, "O": 23, "K": 5}
"""The number of features in each group: ids never change, and no feature is removed."""
FEATURES = features()

COMMANDS = {
    f"duetime {command.path}".strip(): {name for option in command.options for name in option.names}
    for command in commands_of(parser())
}
ROUTES = {
    f"{method.upper()} {path}"
    for path, methods in json.loads((ROOT / "docs/openapi.json").read_text())["paths"].items()
    for method in methods
}
SETTINGS = {field.name for settings in groups().values() for _, field in settings}
TARGETS = re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
BARE = {
    "cdk deploy",
    *(f"make {target}" for target in TARGETS),
    *(f"python -m tools {name}" for name in CONTRIBUTORS),
}
SCREENS = dict(
    re.findall(
        r"^const (ALL|ONE)\b[^\n]*= \{\n(.*?)^\};",
        (ROOT / "console/src/screens.ts").read_text(),
        re.MULTILINE | re.DOTALL,
    )
)
CONSOLE = {
    f"#/{name}{rest}"
    for table, rest in (("ALL", ""), ("ONE", "/"))
    for name in re.findall(r"^  \"?([\w-]*)\"?(?:: .+)?,$", SCREENS[table], re.MULTILINE)
}
PROPERTY_TYPES = {"jobs": Jobs}
"""The types of properties whose annotations only the type checker can resolve."""
OPTIONS = {
    "list": Filters.__annotations__,
    "job": JobOptions.__annotations__,
    "daily": CadenceOptions.__annotations__,
}
"""What functions take as ``**options``."""


@cache
def functions_in(path: str) -> frozenset[str]:
    """The names of a module's functions, methods included."""
    tree = ast.walk(ast.parse((ROOT / path).read_text()))
    return frozenset(node.name for node in tree if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))


@cache
def anchors_in(page: str) -> frozenset[str]:
    """The anchors of a page's headings."""
    headings = re.findall(r"^#+ (.+)$", (ROOT / "docs" / page).read_text(), re.MULTILINE)
    return frozenset(
        re.sub(r"[^\w\- ]", "", heading).strip().lower().replace(" ", "-") for heading in headings
    )


def resolve(name: str) -> object:
    """Return the object that an SDK name refers to; a name may begin with a module."""
    is_whole = name.startswith(("duetime.", "duetime_contract."))
    parts = name.split(".") if is_whole else ["duetime", *name.split(".")]
    lengths = [length for length in range(len(parts), 0, -1) if is_module(".".join(parts[:length]))]
    target = import_module(".".join(parts[: lengths[0]]))
    for part in parts[lengths[0] :]:
        target = PROPERTY_TYPES.get(part) or field_of(target, part) or getattr(target, part)
    return target


def field_of(target: object, name: str) -> object:
    """Return the field of a dataclass: without a default and slots, its class has no such attribute."""
    return getattr(target, "__dataclass_fields__", {}).get(name)


def is_module(name: str) -> bool:
    source = "contract/src" if name.startswith("duetime_contract") else "src"
    path = ROOT / source / name.replace(".", "/")
    return path.with_suffix(".py").is_file() or (path / "__init__.py").is_file()


def accepts(target: object, option: str) -> bool:
    """Return whether a function or class accepts an option of that name."""
    parameters = signature(target).parameters
    is_open = any(parameter.kind is Parameter.VAR_KEYWORD for parameter in parameters.values())
    return option in parameters or (is_open and option in OPTIONS.get(target.__name__, ()))


def is_part_of_the_sdk(name: str) -> bool:
    name, _, option = name.removesuffix("=…)").partition("(")
    return accepts(resolve(name), option) if option else resolve(name) is not None


def is_command(name: str) -> bool:
    command, _, option = name.partition(" --")
    return command in COMMANDS and (not option or f"--{option}" in COMMANDS[command])


EXISTS = {
    "SDK": is_part_of_the_sdk,
    "CLI": is_command,
    "HTTP": ROUTES.__contains__,
    "console": lambda name: re.sub(r"(NAME|ID)$", "", name) in CONSOLE,
    "setting": SETTINGS.__contains__,
    "run": BARE.__contains__,
}


def test_every_feature_is_on_the_page_and_keeps_its_id():
    assert [feature.id for feature in FEATURES if feature.id[0] in GROUPS] == [
        f"{group}{number}" for group, last in GROUPS.items() for number in range(1, last + 1)
    ]


def test_every_interface_exists():
    interfaces = [(feature.id, kind, name) for feature in FEATURES for kind, name in feature.interfaces()]
    assert [interface for interface in interfaces if not EXISTS[interface[1]](interface[2])] == []


def test_every_test_that_shows_a_feature_exists():
    shown = [(feature.id, path, function) for feature in FEATURES for path, function in feature.tests()]
    assert [
        test for test in shown if not test[1].startswith(("tests/", "contract/src/duetime_contract/"))
    ] == []
    assert [test for test in shown if not exists(*test[1:])] == []


def test_every_page_to_read_on_exists():
    links = [(feature.id, page, anchor) for feature in FEATURES for page, anchor in feature.pages()]
    assert [link for link in links if link[2] is not None and link[2] not in anchors_in(link[1])] == []


def exists(path: str, function: str | None) -> bool:
    """Return whether the file has that test function, or any if none is named."""
    if not (ROOT / path).is_file():
        return False
    names = functions_in(path)
    return function in names if function else any(name.startswith("test_") for name in names)
