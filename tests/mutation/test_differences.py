"""A mutant is seen in a call if its decision would differ there."""

import ast
from dataclasses import dataclass, replace

import pytest

from tests.mutation import differences


@dataclass(frozen=True)
class Row:
    due_at: int = 0
    attempt: int = 0


def seen_in(source, *given, module="worker.example"):
    """Return what differs in a call of the function `f`, and what the function returns."""
    mutants = {key: mutant.done for mutant, key, _ in differences.keys(module, ast.parse(source))}
    names = {"replace": replace}
    differences.install()
    exec(compile(differences.marked(module, ast.parse(source)), "example", "exec"), names)  # noqa: S102
    differences.seen.clear()
    returned = names["f"](*given)
    return {mutants[key] for key in differences.seen if key in mutants}, returned


@pytest.mark.parametrize(
    ("given", "found"), [(0, set()), (1, {"< became <=: x < 1"}), (2, set()), (-1, set())]
)
def test_another_bound_is_seen_at_the_bound(given, found):
    differing, returned = seen_in("def f(x):\n    return x < 1", given)
    assert differing == found | ({"1 became 0: x < 1"} if given == 0 else set())
    assert returned is (given < 1)


@pytest.mark.parametrize(
    ("given", "place"),
    [((0, 0), 0), ((0, 1), 0), ((1, 0), 1), ((1, 1), None)],
)
def test_an_operand_is_seen_if_it_decides(given, place):
    source = "def f(x, y):\n    if x and y:\n        return 5\n    return 7"
    differing, returned = seen_in(source, *given)
    dropped = [] if place is None else [f"without {'xy'[place]} and: x and y"]
    assert differing == {*dropped, *(["never if x and y"] if all(given) else [])}
    assert returned == (5 if all(given) else 7)


@pytest.mark.parametrize(("given", "place"), [((1, 0), 0), ((0, 0), None), ((0, 4), 1)])
def test_an_operand_is_seen_if_it_is_the_value(given, place):
    differing, returned = seen_in("def f(x, y):\n    return x or y", *given)
    last = place is None or place == 1
    assert differing == {f"without {'xy'[last]} or: x or y"}
    assert returned == (given[0] or given[1])


def test_a_guard_over_a_comparison_is_seen_with_it():
    source = "def f(x):\n    if not (x <= 3 and x >= 1):\n        return 5\n    return 7"
    assert seen_in(source, 2) == (set(), 7)
    assert seen_in(source, 4)[0] == {
        "never if not (x <= 3 and x >= 1)",
        "without x <= 3 and: x <= 3 and x >= 1",
        "3 became 4: x <= 3",
    }
    assert seen_in(source, 1)[0] == {">= became >: x >= 1"}


def test_a_chain_of_comparisons_is_seen_when_it_runs():
    assert len(seen_in("def f(x):\n    return 1 <= x <= 3", 2)[0]) == 3
    assert seen_in("def f(x):\n    return x and 1 <= x <= 3", 0) == ({"without x and: x and 1 <= x <= 3"}, 0)


def test_a_decision_in_a_method_is_seen():
    source = "class Example:\n    def f(self, x):\n        return x < 1\ndef f(x):\n    return Example().f(x)"
    assert seen_in(source, 1) == ({"< became <=: x < 1"}, False)


def test_a_field_is_seen_if_its_value_changes():
    source = "def f(row):\n    return replace(row, due_at=3, attempt=0)"
    assert seen_in(source, Row()) == (
        {"without the field due_at: replace(row, due_at=3, attempt=0)"},
        Row(due_at=3),
    )


def test_an_instant_is_seen_if_the_other_one_differs_or_raises():
    source = "def f(row, now):\n    return (row.due_at, now)"
    assert seen_in(source, Row(3), 3) == (set(), (3, 3))
    assert seen_in(source, Row(3), 4)[0] == {"now for row.due_at", "row.due_at for now"}


def test_the_source_runs_as_before_and_each_version_of_a_function_has_its_key():
    one, other = "def f(x):\n    return x < 1", "def f(x):\n    y = x\n    return x < 1"
    keys = [[*differences.keys("worker.example", ast.parse(source))] for source in (one, other)]
    assert len({key for listed in keys for _, key, _ in listed}) == 4
    assert len({version for listed in keys for _, _, version in listed}) == 2
