"""Each decision of the source has its mutants, and each differs from the source."""

import ast
from functools import cache

import pytest

from tests.mutation import logic
from tests.mutation.mutant import of_logic, trees

source = cache(trees)


@cache
def all_mutants():
    return tuple(of_logic(source()))


def mutants_of(text, module="worker.example"):
    """Return the bodies of the mutants of a function, by what was done."""
    found = {}
    for mutant in logic.mutants(module, ast.parse(text)):
        found[mutant.done] = ast.unparse(mutant.tree).partition("\n")[2].strip()
    return found


def test_a_guard_is_never_taken_and_a_name_that_it_binds_is_bound():
    source = (
        "def f(x):\n    if (y := g(x)) is None:\n        return 1\n    if x:\n        y = 2\n    return y"
    )
    assert mutants_of(source) == {
        "never if (y := g(x)) is None": "if (y := g(x)) is None and False:\n        return 1\n"
        "    if x:\n        y = 2\n    return y"
    }


def test_each_operand_is_left_out_but_none_that_binds_a_name():
    source = "def f(x, z, w):\n    return x and (not z) and (y := w.y)"
    assert set(mutants_of(source).values()) == {"return not z and (y := w.y)", "return x and (y := w.y)"}


def test_an_operand_that_the_types_of_the_others_need_stays():
    source = "def f(x):\n    return x is None or x.y or (not isinstance(x.z, int)) or x.z > z"
    assert [done for done in mutants_of(source) if done.startswith("without")] == [
        "without x.y or: x is None or x.y or (not isinstance(x.z, int)) or (x.z > z)",
        "without x.z > z or: x is None or x.y or (not isinstance(x.z, int)) or (x.z > z)",
    ]
    assert list(mutants_of("def f(x):\n    return x or 'none'")) == ["without x or: x or 'none'"]
    assert "without x is None or: x is None or y" in mutants_of("def f(x, y):\n    return x is None or y")


@pytest.mark.parametrize(
    ("before", "needed"),
    [
        ("if x is None or y:\n        return 1\n    return x.y", "x is None"),
        ("if y and x is not None:\n        return x.y\n    return 1", "x is not None"),
        ("return x.y if y and x is not None else 1", "x is not None"),
        ("return [x for z in y if x is not None and z]", "x is not None"),
        ("return x and x.y", "x"),
        ("return y or timedelta(0)", "timedelta(0)"),
        ("return y or SYSTEM", "SYSTEM"),
        ("return y or {}", "{}"),
    ],
)
def test_an_operand_that_the_types_of_the_code_need_stays(before, needed):
    done = [done for done in mutants_of(f"def f(x, y):\n    {before}") if done.startswith("without")]
    assert len(done) == 1
    assert not done[0].startswith(f"without {needed} ")


def test_an_operand_that_only_shares_a_name_with_the_code_is_left_out():
    source = "def f(x, y):\n    if x and y:\n        return x\n    return y or g(x)"
    assert len([done for done in mutants_of(source) if done.startswith("without")]) == 4


def test_a_bound_becomes_the_other_one_and_a_number_moves_in_each_direction_once():
    assert set(mutants_of("def f(x, y):\n    return x < y").values()) == {"return x <= y"}
    assert set(mutants_of("def f(x):\n    return x > 5").values()) == {"return x >= 5", "return x > 6"}
    assert set(mutants_of("def f(x):\n    return x >= 5").values()) == {"return x > 5", "return x >= 4"}
    assert set(mutants_of("def f(x):\n    return x == 5").values()) == {"return x == 6"}
    for either in ("now < stop_at", "self._clock.now() - at >= _AWAKE", "now - f(at) < facts.MISSING_AFTER"):
        assert mutants_of(f"def f(self, at, now, stop_at):\n    return {either}", "jobs.example") == {}
    assert mutants_of("def f(x):\n    return x == 'a' or x is True").keys() == {
        "without x == 'a' or: x == 'a' or x is True",
        "without x is True or: x == 'a' or x is True",
    }


def test_a_changed_row_keeps_the_former_value_of_each_field():
    source = "def f(row, **more):\n    return with_fields(row, status=1, attempt=2, **more)"
    assert set(mutants_of(source).values()) == {
        "return with_fields(row, attempt=2, **more)",
        "return with_fields(row, status=1, **more)",
    }


def test_an_instant_is_taken_from_elsewhere_in_the_code_of_leases_only():
    source = "def f(row, now):\n    return g(now, row.due_at)"
    assert set(mutants_of(source).values()) == {"return g(row.due_at, row.due_at)", "return g(now, now)"}
    assert mutants_of(source, "jobs.example") == {}


def test_no_instant_is_used_before_it_is_bound():
    source = "def f(row):\n    x = row.due_at\n    now = self._clock.now()\n    return now"
    assert set(mutants_of(source).values()) == {
        "x = row.due_at\n    now = self._clock.now()\n    return row.due_at"
    }


def test_the_monotonic_start_of_a_run_becomes_the_present():
    source = "def f(self, since):\n    return g(since)"
    assert set(mutants_of(source).values()) == {"return g(self._clock.elapsed())"}


def test_each_decision_about_leases_slots_and_batches_has_mutants():
    mutated = {mutant.where for mutant in all_mutants()}
    assert {
        "wakeups.due_scanner:DueScanner._ready_at",
        "worker.heartbeat:Heartbeat.watching",
        "actions.debounce:place_debounced",
        "worker.claim_run:ClaimOneShot._contend",
        "worker.claim_run:_is_dead",
        "worker.pass_slots:PassSlots.free",
        "worker.end_run:Settle._end",
        "model.rate_limit:RateCounters.carried",
        "model.transition:settled",
        "wakeups.count_batch:Release._verdict",
        "wakeups.count_batch:CountBatch._count",
    } <= mutated


def test_no_two_mutants_have_one_name_and_each_changes_its_function():
    assert len({mutant.id for mutant in all_mutants()}) == len(all_mutants())
    same = [
        mutant.id for mutant in all_mutants() if _text(mutant.function.before) == _text(mutant.function.after)
    ]
    assert not same


def test_each_mutant_of_a_module_is_one_that_python_compiles():
    some = [mutant for mutant in all_mutants() if mutant.module == "model.rate_limit"]
    assert len(some) >= 20
    for mutant in some:
        compile(ast.fix_missing_locations(mutant.function.tree), "mutant", "exec")


def _text(node):
    return ast.unparse(node)
