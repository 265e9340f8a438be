"""The calls with an effect in the steps, and the steps that lack one or make two in another order."""

import ast
import copy
import hashlib
import importlib
import inspect
import pkgutil
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from typing import Any

READS = frozenset(
    [
        "due",
        "get",
        "get_rows",
        "find",
        "page",
        "position_of",
        "first_of_key",
        "key_slots",
        "peek",
        "by_correlation",
        "of_tenant",
        "failed",
        "find_batch",
        "batches",
        "member_statuses",
        "tracebacks",
        "in_due_order",
        "of_job",
        "occurrences",
        "list",
        "due_for_maintenance",
        "versions",
        "spans",
        "precision",
        "known",
        "owner",
        "for_tenant",
        "read",
        "read_all",
        "queue_for",
        "version_of",
        "types",
        "event_route",
        "entries",
        "store",
        "jobs",
        "queues",
        "timers",
        "job_wakes",
        "bookmarks",
        "routes",
        "pauses",
        "clock",
        "settings",
    ]
)
"""The methods of ports that change nothing."""

STEPS = ("worker", "wakeups", "jobs", "actions", "events", "notifications", "undelivered")
"""The packages whose functions are steps."""

BACK_ENDS = (
    "aws.store",
    "ports.action_keys",
    "ports.job_store",
    "ports.slots",
    "aws.commits",
    "aws.payloads",
    "aws.batches",
    "ports.deliveries",
    "ports.undelivered",
    "ports.access",
    "ports.usage",
    "aws.job_wakes",
    "aws.timers",
    "aws.queues",
    "scheduler",
)
"""The modules beside them that make more than one call."""

Statement = ast.stmt
Function = ast.FunctionDef | ast.AsyncFunctionDef


def is_step(module: str) -> bool:
    return module.partition(".")[0] in STEPS or module in BACK_ENDS


AWS_CALL = re.compile(r"(put|update|delete|create|remove|send|transact|change|publish|batch)(_|$)")
"""The methods of boto3's clients, and of the tables over them, that change something."""

PORT_NAMES = frozenset({"deliveries", "topic", "mailer", "jobs", "store", "actions", "queues", "wakes"})
"""Locals and parameters that are ports."""

STEP_FIELDS = frozenset(
    [
        "_plan",
        "_claim",
        "_run",
        "_end",
        "_settle",
        "_maintain",
        "_deliver",
        "_report_stuck",
        "_send",
        "wake",
        "_reconcile",
        "_repair",
        "_at_once",
        "_executed",
    ]
)
"""The steps and callbacks that objects hold and call."""

BESIDE = frozenset({"wait_until", "sent", "outlive"})
"""Methods with an effect that no port has: of the clock, of the messages put off, and of payloads."""

Name = tuple[str, str]
"""A module and the path of a function in it."""


@dataclass(frozen=True)
class CallMutant:
    """A function with one change: `after` stands where `before` was in the module's `source`."""

    module: str
    function: str
    done: str
    source: ast.Module = field(repr=False, compare=False)
    before: Any = field(repr=False, compare=False)
    after: Any = field(repr=False, compare=False)
    kind: str = "calls"

    @property
    def tree(self) -> ast.Module:
        """The module with no other function or class than the changed one."""
        name = self.function.partition(".")[0]
        nodes = [
            node
            for node in self.source.body
            if isinstance(node, ast.ImportFrom) or getattr(node, "name", None) == name
        ]
        return copy.deepcopy(ast.Module(nodes, []), {id(self.before): self.after})


class Effects:
    """Knows which statements have an effect: by the ports' methods, and by the functions that call them."""

    def __init__(self, methods: frozenset[str], trees: dict[str, ast.Module]) -> None:
        self._methods, self._found = methods | BESIDE, set[Name]()
        self._names = {module: _names_in(module, tree) for module, tree in trees.items()}
        nodes = {
            (module, path): [part for statement in function.body for part in ast.walk(statement)]
            for module, tree in trees.items()
            for path, function in functions_of(tree)
        }
        before = -1
        while before != len(self._found):
            before = len(self._found)
            self._found |= {
                name
                for name, parts in nodes.items()
                if name not in self._found and any(self._is_effect(part, *name) for part in parts)
            }

    def of(self, node: ast.AST, module: str, path: str) -> bool:
        """Return whether a statement of a function calls, or passes on, a function with an effect."""
        return any(self._is_effect(part, module, path) for part in ast.walk(node))

    def _is_effect(self, node: ast.AST, module: str, path: str) -> bool:
        if isinstance(node, ast.Name):
            return self._names[module].get(node.id) in self._found
        if not isinstance(node, ast.Attribute):
            return isinstance(node, ast.Call) and _is_step_call(node.func)
        if _is_self(node.value):
            return (module, f"{path.partition('.')[0]}.{node.attr}") in self._found
        if module.startswith("aws.") and AWS_CALL.match(node.attr):
            return True
        return node.attr in self._methods and _is_port(node.value)


def _names_in(module: str, tree: ast.Module) -> dict[str, Name]:
    """Return the functions that a module defines and imports, by their names in it."""
    names = {path: (module, path) for path, _ in functions_of(tree) if "." not in path}
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("duetime."):
            source = str(node.module).removeprefix("duetime.")
            names |= {name.asname or name.name: (source, name.name) for name in node.names}
    return names


def _is_self(node: ast.AST) -> bool:
    return isinstance(node, ast.Name) and node.id == "self"


def _is_port(node: ast.AST) -> bool:
    """Return whether a method's owner is a part of `self`, such as ``self._jobs`` or ``self._ports.topic``.

    Other locals are sets and lists as a rule, with methods of the same names.
    """
    while isinstance(node, ast.Attribute):
        if _is_self(node.value):
            return not node.attr.endswith(("meter", "log", "known"))  # `_known`: what a process remembers
        node = node.value
    return isinstance(node, ast.Name) and node.id in PORT_NAMES


def _is_step_call(node: ast.AST) -> bool:
    """Return whether a step is called that `self` holds: ``self._plan(ref)``."""
    return isinstance(node, ast.Attribute) and _is_self(node.value) and node.attr in STEP_FIELDS


def mutants(module: str, tree: ast.Module, effects: Effects) -> Iterator[CallMutant]:
    """Yield the mutants of each function of a module."""
    for path, function in functions_of(tree):
        has_effect = partial(effects.of, module=module, path=path)
        counts = Counter[str]()
        for block in blocks_of(function):
            for done, statements in mutated(block, has_effect):
                counts[done] += 1
                numbered = done if counts[done] == 1 else f"{done} ({counts[done]})"
                yield CallMutant(module, path, numbered, tree, block, statements)


def functions_of(tree: ast.Module) -> Iterator[tuple[str, Function]]:
    """Yield the functions and methods that no other function contains."""
    for node in tree.body:
        if isinstance(node, Function):
            yield node.name, node
        elif isinstance(node, ast.ClassDef):
            for part in node.body:
                if isinstance(part, Function) and part.name != "__init__":
                    yield f"{node.name}.{part.name}", part


def blocks_of(function: Function) -> Iterator[list[Statement]]:
    """Yield each list of statements in a function."""
    for node in ast.walk(function):
        for name in ("body", "orelse", "finalbody"):
            block = getattr(node, name, None)
            if isinstance(block, list) and block:
                yield block


def mutated(
    block: Sequence[Statement], has_effect: Callable[[ast.AST], bool]
) -> Iterator[tuple[str, list[Statement]]]:
    """Yield the block without one of its calls, and with two of them in the other order."""
    ordered = [
        place
        for place, statement in enumerate(block)
        if (has_effect(statement) and not _is_deferred(statement)) or _leaves(statement)
    ]
    for place in ordered:
        if isinstance(block[place], ast.Expr) and has_effect(block[place]):
            without = [*block[:place], ast.Pass(), *block[place + 1 :]]
            yield f"drop {line(block[place])}", without
    for first, second in pairwise(ordered):
        if not (has_effect(block[first]) or has_effect(block[second])):
            continue
        if (swapped := _swapped(list(block), first, second)) is not None:
            yield f"{line(block[second])} before {line(block[first])}", swapped


def _is_deferred(statement: Statement) -> bool:
    """Return whether a statement only names a call that another makes: ``write = partial(…)``, ``def``."""
    if isinstance(statement, Function):
        return True
    if not isinstance(statement, ast.Assign | ast.AnnAssign) or statement.value is None:
        return False
    return isinstance(statement.value, ast.Lambda) or ast.unparse(statement.value).startswith("partial(")


def _leaves(statement: Statement) -> bool:
    """Return whether a statement may leave the function or the loop."""
    exits = (ast.Return, ast.Raise, ast.Continue, ast.Break)
    return isinstance(statement, ast.If) and any(isinstance(node, exits) for node in ast.walk(statement))


def _swapped(block: list[Statement], first: int, second: int) -> list[Statement] | None:
    """Return the block in which the second comes before the first; None if one needs the other's names."""
    one, other = block[first], block[second]
    between = block[first + 1 : second]
    if isinstance(one, ast.Return | ast.Raise):
        return None
    if not _bound([one]) & _used([*between, other]):
        return [*block[:first], *between, other, one, *block[second + 1 :]]
    if not _bound([one, *between]) & _used([other]):
        return [*block[:first], other, one, *between, *block[second + 1 :]]
    return None


def _bound(statements: Sequence[Statement]) -> set[str]:
    """Return the names that statements bind, and the attributes of `self`."""
    names = set[str]()
    for node in (node for statement in statements for node in ast.walk(statement)):
        if isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Store):
            names.add(node.id if isinstance(node, ast.Name) else node.attr)
        elif isinstance(node, Function):
            names.add(node.name)
    return names


def _used(statements: Sequence[Statement]) -> set[str]:
    nodes = (node for statement in statements for node in ast.walk(statement))
    return {node.id for node in nodes if isinstance(node, ast.Name)}


def line(node: ast.AST) -> str:
    """Return a statement, or an expression, in a short line; a hash stands for what does not fit."""
    text = " ".join(ast.unparse(node).split())
    return text if len(text) <= 90 else f"{text[:80]}…{hashlib.sha256(text.encode()).hexdigest()[:6]}"


def writing_methods() -> frozenset[str]:
    """Return the methods of ports that change something: all but those in `READS`."""
    return port_methods() - READS


def port_methods() -> frozenset[str]:
    """Return the public methods and parts of all ports."""
    from duetime import ports  # noqa: PLC0415 - its source is marked only after this module is there
    from duetime.ports.action_store import RowChanges  # noqa: PLC0415
    from duetime.ports.keyed_items import Keyed  # noqa: PLC0415
    from duetime.ports.row_lists import RowLists  # noqa: PLC0415

    modules = [
        importlib.import_module(found.name)
        for found in pkgutil.iter_modules(ports.__path__, "duetime.ports.")
    ]
    classes = [
        thing
        for module in modules
        for thing in vars(module).values()
        if inspect.isclass(thing)
        and thing.__module__ == module.__name__
        and (getattr(thing, "_is_protocol", False) or issubclass(thing, Keyed | RowChanges | RowLists))
    ]
    return frozenset(name for thing in classes for name in vars(thing) if not name.startswith("_"))
