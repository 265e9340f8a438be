"""No lock is held over a call of a back end: one that hangs must stop no other thread."""

import ast
import builtins
import threading
from collections import Counter, OrderedDict, deque
from pathlib import Path

import pytest

from duetime._lazy_property import lazy_property

SOURCE = Path(__file__).parents[2] / "src/duetime"
ARE_BACK_ENDS = {"memory", "sqlite", "local", "testing"}
"""Their locks guard the data itself: a dictionary, a file's connection, moto, a simulation."""

PURE = {
    *dir(builtins),
    *(
        name
        for kind in (dict, list, set, deque, Counter, OrderedDict, threading.Condition)
        for name in dir(kind)
    ),
    *("replace", "floor", "text", "truncate", "timedelta", "new_action_id", "counted", "start", "is_alive"),
    *("defaultdict", "total_seconds", "now", "elapsed"),
}
"""Names of calls that wait for nobody."""

WAIT_FOR_THEIR_OWN = {
    "api/rejected_changes.py:begin": "the lock is one caller's: a later count is stored later",
    "api/rejected_changes.py:end": "as above",
    "aws/async_clients.py:open": "each client is opened once; botocore bounds the time",
    "aws/async_clients.py:close": "as above",
    "aws/clients.py:client": "boto3's session makes one client at a time; botocore bounds the time",
    "declare/resources.py:_get": "the lock is one resource's: all runs that need it wait for its factory",
    "embedded/embedded.py:_turn": "the lock is one engine's: a deploy waits for the end of a turn",
    "embedded/embedded.py:deploy": "as above, the next turn for the deploy",
    "worker/end_run.py:__call__": "the lock is one run's: its checkpoints are in order, and it commits once",
    "worker/batch.py:_started": "asyncio's constructors wait for nobody",
}
"""The functions that call more while they hold a lock, each with the reason."""


def guarded(tree):
    """Yield each function's name with the body of a block that holds a lock."""
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            for block in ast.walk(function):
                if isinstance(block, ast.With | ast.AsyncWith) and any(map(is_lock, block.items)):
                    yield function.name, block


def is_lock(item):
    name = ast.unparse(item.context_expr).lower().removesuffix("()").rpartition(".")[2]
    return any(word in name for word in ("lock", "turn", "changing", "changed", "mutex"))


def calls_of(block, functions, given):
    """Yield the calls in a block, also in this module's functions, that are not known to wait for nobody."""
    left, seen = [block], set()
    while left:
        for call in (node for node in ast.walk(left.pop()) if isinstance(node, ast.Call)):
            path = ast.unparse(call.func).split("(")[0].split(".")
            name, is_own = path[-1], len(path) == 1 or path[:-1] == ["self"]
            if is_own and name in functions:
                left += [] if name in seen else [functions[name]]
                seen.add(name)
            elif (path[0] == "self" and path[1] in given - {"_clock"}) or not (
                name in PURE or name.strip("_")[:1].isupper()
            ):
                yield ".".join(path)


def suspects(text):
    """Yield the functions that hold a lock over a call that may wait, with these calls."""
    tree = ast.parse(text)
    functions = {node.name: node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
    given = set(given_attributes(tree))
    for name, block in guarded(tree):
        if found := set(calls_of(block, functions, given)):
            yield name, found


def given_attributes(tree):
    """Yield the attributes that a constructor gets from its caller."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign):
            target, value = node.targets[0], node.value
            is_many = isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple)
            pairs = zip(target.elts, value.elts, strict=False) if is_many else [(target, value)]
            yield from (
                one.attr
                for one, made in pairs
                if isinstance(one, ast.Attribute) and isinstance(made, ast.Name)
            )


def test_no_lock_is_held_over_a_call_that_may_wait():
    found = {
        f"{path.relative_to(SOURCE).as_posix()}:{name}": calls
        for path in sorted(SOURCE.rglob("*.py"))
        if path.relative_to(SOURCE).parts[0] not in ARE_BACK_ENDS
        for name, calls in suspects(path.read_text())
    }
    assert found.keys() == WAIT_FOR_THEIR_OWN.keys(), found


@pytest.mark.parametrize(
    "body",
    [
        "self._store.get(ref)",
        "return read(name)",
        "self._write(entry)",
        "x = [self._trail.count(e)]",
    ],
)
def test_a_lock_over_a_read_is_found(body):
    text = (
        "def __init__(self, store, trail):\n    self._store, self._trail = store, trail\n"
        f"def _write(self, entry):\n    put(entry)\ndef held(self):\n    with self._lock:\n        {body}\n"
    )
    assert [name for name, _ in suspects(text)] == ["held"]


class Slow:
    def __init__(self, waits_for=None):
        self.waits_for, self.begun = waits_for, threading.Event()

    @lazy_property
    def value(self):
        """The value."""
        self.begun.set()
        if self.waits_for is not None:
            self.waits_for.wait()
        return object()


def test_a_lazy_property_that_hangs_stops_no_other_instance_and_has_one_value():
    goes_on = threading.Event()
    slow, values = Slow(goes_on), []
    threads = [threading.Thread(target=lambda: values.append(slow.value), daemon=True) for _ in range(2)]
    for thread in threads:
        thread.start()
    slow.begun.wait()
    other = threading.Thread(target=lambda: Slow().value, daemon=True)
    other.start()
    other.join(120)  # seconds, which only a failure takes
    assert not other.is_alive()
    goes_on.set()
    for thread in threads:
        thread.join()
    assert values == [slow.value, slow.value]
    assert Slow.value.__doc__ == "The value."
