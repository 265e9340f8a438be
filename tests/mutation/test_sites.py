"""No condition and no effect escapes the mutation tests."""

import ast
import re
from functools import cache

from tests.mutation import sites, steps
from tests.mutation.condition_text import parse
from tests.mutation.mutant import of_calls, of_conditions, of_logic, trees
from tests.mutation.results import read_conditions, read_reasons

GIVES_ONE = re.compile(r"""(?:Condition|Filter)Expression["']?(?:\]\s*=(?!=)|\s*:|=(?!=))""")
"""A condition as a key with a value, as an argument, or as an assignment; not one that is read."""


source = cache(trees)


@cache
def call_mutants():
    return tuple(of_calls(source()))


def found_sites():
    return {site for module, tree in source().items() for site in sites.condition_sites(module, tree)}


def test_each_place_that_gives_dynamodb_a_condition_is_found():
    root = sites.SOURCE / "duetime"
    written = {
        str(path): count for path in root.rglob("*.py") if (count := len(GIVES_ONE.findall(path.read_text())))
    }
    found = {
        str(path): len(sites.condition_sites(module, ast.parse(path.read_text())))
        for module, path in sites.paths().items()
    }
    assert written == {path: count for path, count in found.items() if count}
    assert sum(written.values()) >= 25


def test_the_list_of_conditions_has_each_of_these_places_and_no_other():
    listed = {site for site, _, _ in read_conditions()}
    assert found_sites() == listed, (
        "run python -m tests.mutation --record, which writes tests/mutation/conditions.json"
    )


def test_each_named_condition_of_the_source_is_part_of_a_listed_one():
    listed = {atom for _, text, _ in read_conditions() for atom in atoms(text)}
    missed = [
        (module, name)
        for module, tree in source().items()
        for name, text in constants(tree)
        if not atoms(text) <= listed
    ]
    assert not missed


def test_each_method_of_a_port_reads_or_has_an_effect_and_reads_are_methods_of_ports():
    assert steps.port_methods() >= steps.READS
    assert {"claim", "renew", "settle", "commit", "put", "send", "set", "clear"} <= steps.writing_methods()


def test_each_step_has_mutants_of_its_calls():
    mutated = {mutant.where for mutant in call_mutants()}
    assert {
        "worker.worker:Worker.__call__",
        "worker.claim_job_run:ClaimJobRun._wait",
        "worker.heartbeat:Heartbeat._renew_or_peek",
        "worker.end_run:Settle._end",
        "worker.end_run:RunCommit.__call__",
        "wakeups.arm:Arm.__call__",
        "wakeups.dispatch:DispatchJobs.event",
        "wakeups.sweep:Sweep.__call__",
        "wakeups.wheel:Wheel.__call__",
        "jobs.plan:Plan._write",
        "jobs.maintain:Maintain.set_wakes",
        "jobs.reconcile:Reconcile._declare",
        "jobs.maintain:Repair._remove",
        "notifications.deliver:Deliver._once",
        "undelivered.undelivered_handler:Redrive.__call__",
    } <= mutated


def test_the_planner_that_moves_its_cursor_first_is_a_mutant():
    found = [mutant for mutant in call_mutants() if mutant.where == "jobs.plan:Plan._write"]
    assert any("self._jobs.move_cursor" in mutant.done.split(" before ")[0] for mutant in found)


def test_a_statement_that_only_names_a_call_is_none():
    assert not any(mutant.done.startswith("with_job = partial(") for mutant in call_mutants())


def test_each_explained_survivor_is_a_mutant_of_this_source_and_has_a_reason():
    ids = [mutant.id for mutant in [*of_conditions(read_conditions()), *call_mutants(), *of_logic(source())]]
    assert len(ids) == len(set(ids))
    assert set(read_reasons()) <= set(ids)
    assert all(len(reason.split()) > 3 for reason in read_reasons().values())


def constants(tree):
    """Yield the constants of a module that are conditions."""
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant):
            text = node.value.value
            if isinstance(text, str) and re.search(r"[:#]\w|attribute_(not_)?exists", text):
                try:
                    parse(text)
                except ValueError:
                    continue
                yield ast.unparse(node.targets[0]), text


def atoms(text):
    """Return the comparisons and functions of a condition."""
    tree = parse(text)
    parts, found = [tree], set()
    while parts:
        part = parts.pop()
        inner = getattr(part, "parts", None) or ([part.part] if hasattr(part, "part") else None)
        if inner is None:
            found.add(str(part))
        else:
            parts += inner
    return found


def test_the_mutants_of_a_value_of_several_types_do_not_depend_on_the_order_of_the_tests():
    seen = [("site:f:Condition", "fence = :fence", ((":fence", kind), (":me", "S"))) for kind in "SN"]
    mutants = [*of_conditions(seen)]
    assert mutants == [*of_conditions(reversed(seen))]
    assert [mutant for mutant in mutants if "fence <= :fence" in mutant.done]
