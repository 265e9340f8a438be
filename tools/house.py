"""Check the project's size and structure against tools/house.toml: ``python -m tools.house``.

No count may exceed its number in the file. A number falls by itself when its count falls: commit the file
with the change. `tools.bounds` checks that a commit which raises one states why.
"""

from __future__ import annotations

import ast
import builtins
import json
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

import grimp

from duetime.cdk import Deployment, Handlers
from duetime.cdk.settings_doc import groups
from duetime.cli.main import parser
from tests.cli.command_tree import commands_of
from tests.infra.synthesis import Synthesised, stack
from tools.bounds import LINE, numbers
from tools.commands import ROOT

FILE = ROOT / "tools/house.toml"
SOURCE = ROOT / "src/duetime"
CONTRACT = ROOT / "contract/src"
OPENAPI = ROOT / "docs/openapi.json"
APPS = ("examples.greeting:app", "tests.infra.apps.crontab:app")
"""The apps whose small deployments are counted: one action, and twelve cron lines."""
HEAD = """\
# The most of each count in tools/house.py. A number falls by itself; commit it with the change.
# A commit that raises one needs a line `Grows: <bound> because <reason>` in its message.
# A room is a package of src/duetime; "flat" are the modules beside the packages.
"""


def counts() -> dict[str, int]:
    """Return all counts by their names in the file; those of a room are named ``statements.aws``."""
    return {**sizes(), **imports(), **surface(), "console.lines": console_lines()}


def sizes() -> dict[str, int]:
    """Return statements and files of each room, of all, and of the contract. Docstrings are statements."""
    counted = Counter[str]()
    for path in SOURCE.rglob("*.py"):
        room = path.relative_to(SOURCE).parts[0]
        room = "flat" if room.endswith(".py") else room
        for part in (room, "all"):
            counted[f"statements.{part}"] += statements_of(path)
            counted[f"files.{part}"] += 1
    for path in CONTRACT.rglob("*.py"):
        counted["statements.contract"] += statements_of(path)
        counted["files.contract"] += 1
    return dict(sorted(counted.items()))


def statements_of(path: Path) -> int:
    """Return the statements of a file."""
    return sum(isinstance(node, ast.stmt) for node in ast.walk(ast.parse(path.read_bytes())))


def imports() -> dict[str, int]:
    """Return the floors and the circles of the import graph.

    A room stands one floor above the highest room that it imports, without imports for types only. A circle
    is a set of modules that import each other, directly or through others, for types too.
    """
    rooms: dict[str, set[str]] = {}
    for module, imported in graph(for_types=False).items():
        rooms.setdefault(room_of(module), set()).update(map(room_of, imported))
    return {"floors.all": max(floors(rooms).values()), "circles.all": len(circles(graph(for_types=True)))}


def graph(*, for_types: bool) -> dict[str, set[str]]:
    """Return the modules that each module imports."""
    found = grimp.build_graph("duetime", exclude_type_checking_imports=not for_types, cache_dir=None)
    return {module: found.find_modules_directly_imported_by(module) for module in found.modules}


def room_of(module: str) -> str:
    """Return the room of a module; a module beside the packages is its own."""
    return ".".join(module.split(".")[:2])


def floors(rooms: Mapping[str, set[str]]) -> dict[str, int]:
    """Return the floor of each room.

    Raises:
        RecursionError: rooms import each other, which import-linter reports as well.
    """
    found: dict[str, int] = {}

    def floor(room: str) -> int:
        if room not in found:
            found[room] = 1 + max((floor(other) for other in rooms[room] - {room}), default=0)
        return found[room]

    for room in rooms:
        floor(room)
    return found


def circles(modules: Mapping[str, set[str]]) -> set[frozenset[str]]:
    """Return the sets of modules that import each other."""
    left = dict(modules)
    while outside := [
        name
        for name, imported in left.items()
        if not imported & left.keys() or not any(name in others for others in left.values())
    ]:
        for name in outside:
            del left[name]
    reached = {name: reachable(name, left) for name in left}
    together = {frozenset(other for other in reached[name] if name in reached[other]) for name in left}
    return together - {frozenset()}


def reachable(start: str, modules: Mapping[str, set[str]]) -> set[str]:
    """Return the modules that one imports, directly or through others."""
    found: set[str] = set()
    waiting = [start]
    while waiting:
        new = (modules[waiting.pop()] & modules.keys()) - found
        found |= new
        waiting += new
    return found


def surface() -> dict[str, int]:
    """Return how much a user meets: settings, commands, options, routes, errors and resources."""
    commands = list(commands_of(parser()))
    settings = groups()
    return {
        "settings.all": sum(map(len, settings.values())),
        "settings.first": len(settings["Begin"]),
        "commands.all": len(commands) - 1,
        "commands.first": len(commands[0].commands),
        "options.all": len(
            {name for command in commands for option in command.options for name in option.names}
        ),
        "routes.all": sum(map(len, json.loads(OPENAPI.read_text())["paths"].values())),
        "errors.all": len(error_classes()),
        **{f"resources.{app.partition(':')[0]}": resources(app) for app in APPS},
    }


def resources(app: str) -> int:
    """Return the resources of an app's deployment with the profile small and a recipient of alarms."""
    made, _ = stack(
        handlers=[Handlers(app=app, source=ROOT)],
        profile="small",
        deployment=Deployment(alarm_email="ops@acme.example"),
        is_bundled=True,
    )
    return len(Synthesised.from_stack(made).resources)


def error_classes() -> set[str]:
    """Return the names of the classes of exceptions."""
    classes = {
        node.name: {ast.unparse(base).rpartition(".")[2] for base in node.bases}
        for path in SOURCE.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_bytes()))
        if isinstance(node, ast.ClassDef)
    }
    found = {
        name
        for name, kind in vars(builtins).items()
        if isinstance(kind, type) and issubclass(kind, BaseException)
    }
    while new := {name for name, bases in classes.items() if bases & found} - found:
        found |= new
    return found & classes.keys()


def console_lines() -> int:
    """Return the lines of the console's sources, without the types that its build writes."""
    sources = (path for path in (ROOT / "console/src").rglob("*.*") if not path.name.endswith(".d.ts"))
    return sum(len(path.read_text().splitlines()) for path in sources)


def problems(counted: Mapping[str, int], most: Mapping[str, int]) -> Iterator[str]:
    """Yield each count that exceeds its number."""
    for name, count in counted.items():
        if count > most.get(name, count):
            yield (
                f"{name} is {count}, at most {most[name]}: remove as much elsewhere, or raise the number in"
                f" tools/house.toml in a commit with a line {LINE}"
            )


def main(path: Path = FILE) -> int:
    """Print what exceeds its number; else lower the numbers. Return 1 if something exceeds one."""
    counted, most = counts(), numbers(path.read_text())
    found = list(problems(counted, most))
    if not found and counted != most:
        path.write_text(HEAD + "".join(f"{name} = {count}\n" for name, count in counted.items()))
        changed = [name for name in counted | most if counted.get(name) != most.get(name)]
        sys.stdout.write(f"tools/house.toml has new numbers; commit it: {', '.join(changed)}\n")
    sys.stdout.writelines(f"{problem}\n" for problem in found)
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
