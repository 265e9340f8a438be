"""TLC finds every promise of the specifications kept, and one broken without any of the guards."""

import re

import pytest

from tests.model import explored
from tests.model.test_protocol_page import GUARDS, names, table
from tests.spec import tlc

GUARD = re.compile(r'<<"([a-z :\',]+)", ("\w+"|\{[^}]+\})>>')
OF_OTHERS = {"FENCE_IS_AS_READ", "CHECKPOINT_IS_AS_READ", "PROGRESS_IS_AS_READ"}
"""Conditions that hold for each action without keys, checkpoints and progress."""

BY_THE_ROW_AS_READ = {"claim": {"IS_DUE", "IS_NOT_EXPIRED"}, "take over": {"LEASE_HAS_ENDED"}}
"""What a worker decides by the row that it has read, which the guard then compares."""

NOT_SPECIFIED = {"take over": {"LEASE_IS_AS_READ"}, "ask to cancel": {"NO_CANCEL_WAS_REQUESTED"}}
"""Clauses that the specification does not have: it compares the lease, and lets a request repeat."""

OF_HAND_OVERS = {"NOT_HANDED_OVER"}
"""Conditions that hold for each run of a job: the specification of jobs has no hand-overs."""

WITH_A_CHECKPOINT = {"checkpoint"}
OF_PROGRESS = {"report"}
"""A write that changes nothing that the specification has."""

WITH_A_KEY = {"redrive with a key"}
CASES_OF_A_RESCHEDULE = {"coalesce", "defer", "release"}
"""Writes with its condition and effect: the specification does not have them apart."""

ALWAYS = {"GENERATION_IS_AS_READ", "JOB_IS_THERE"}
"""Conditions that hold where no due time changes and no job is erased."""

EXPLORATION = explored.long_exploration(explored.SPECIFICATION)
OF_RUNS = {"schedule", "heartbeat", "settle", "skip"}
NOT_IN_THE_SPECIFICATION = {
    "postpone maintenance",
    "count",
    "claim: a settled one's row",
    "claim: a removed one's row",
    "end pending: the unlock",
    "wait",
    "begin a backfill",
}


def test_the_specification_has_the_conditions_of_the_protocols_page():
    spec = (tlc.HERE / "Action.tla").read_text()
    rows = re.findall(r'"([a-z ]+)" +:>\s+\{(.*)\}', spec)
    conditions = {write: set(re.findall(r"\w+", listed)) for write, listed in rows}
    page = {
        write: names(cells[1]) - OF_OTHERS - GUARDS.keys() - NOT_SPECIFIED.get(write, set())
        | BY_THE_ROW_AS_READ.get(write, set())
        for write, cells in table("write").items()
    }
    assert {write: page[write] for write in CASES_OF_A_RESCHEDULE} == dict.fromkeys(
        CASES_OF_A_RESCHEDULE, conditions["reschedule"]
    )
    modelled = page.keys() - WITH_A_KEY - CASES_OF_A_RESCHEDULE - OF_PROGRESS - WITH_A_CHECKPOINT
    assert conditions == {write: page[write] for write in modelled}


def test_the_specification_of_jobs_has_the_conditions_of_the_protocols_page():
    spec = (tlc.HERE / "JobTables.tla").read_text()
    spec = spec.replace("Lock", '{"LOCK_IS_FREE", "LOCK_IS_MINE"}').replace(
        "Place", '{"NO_RUN_WAITS", "I_WAIT"}'
    )
    rows = re.findall(r'"([a-z :\',]+)" +:> \{(.*)\}', spec)
    conditions = {write: set(re.findall(r"[A-Z]\w+", listed)) for write, listed in rows}
    of_runs = {write: names(cells[1]) for write, cells in table("write").items() if write in OF_RUNS}
    of_jobs = {
        write.replace("`", ""): names(cells[0])
        for write, cells in table("write of a job").items()
        if write not in NOT_IN_THE_SPECIFICATION | WITH_A_CHECKPOINT
    }
    for write in ("claim: its row", "take over: its row"):
        of_jobs[write] = of_jobs[write] - {"IS_PENDING", "IS_PROCESSING"} | {
            "STATUS_IS_AS_READ",
            "FENCE_IS_MINE",
        }
    others = ALWAYS | OF_OTHERS | OF_HAND_OVERS | GUARDS.keys()
    assert conditions == {write: page - others for write, page in (of_runs | of_jobs).items()}


@EXPLORATION
@pytest.mark.parametrize("module", ["World", "JobWorld"])
def test_every_promise_is_kept_in_every_order_of_events(tmp_path, module):
    output = tlc.run(tmp_path, module, is_long=True)
    assert "No error has been found" in output
    assert int(re.findall(r"(\d+) distinct states found, 0 states left", output)[0]) > 100_000


@EXPLORATION
@pytest.mark.parametrize(("module", "least"), [("Batch", 10_000), ("Checkpoint", 100_000)])
def test_batches_and_checkpoints_keep_every_promise(tmp_path, module, least):
    output = tlc.run(tmp_path, module, is_long=True)
    assert "No error has been found" in output
    assert int(re.findall(r"(\d+) distinct states found, 0 states left", output)[0]) > least


@EXPLORATION
def test_each_batch_completes_and_releases_what_waits_for_it(tmp_path):
    assert "No error has been found" in tlc.run(tmp_path, "Batch", "BatchLiveness")


@EXPLORATION
@pytest.mark.parametrize(("module", "number"), [("BatchMutants", 8), ("CheckpointMutants", 4)])
def test_batches_and_checkpoints_need_each_of_their_guards(tmp_path, module, number):
    output = tlc.run(tmp_path, module)
    assert re.search(r"\d+ distinct states found, 0 states left", output)
    listed, _, found = output.partition("Computing initial states")
    guards = set(re.findall(r'"([A-Z_]+)"', listed.partition('"guards"')[2]))
    broken = [set(re.findall(r'"([A-Z_]+)"', mutant)) for mutant in found.split('"broken"')[1:]]
    assert len(guards) == len(broken) == number
    assert set().union(*broken) == guards


@EXPLORATION
def test_each_scheduled_action_becomes_final(tmp_path):
    assert "No error has been found" in tlc.run(tmp_path, "World", "Liveness")


@EXPLORATION
def test_without_a_sweep_an_action_may_never_become_final(tmp_path):
    output = tlc.run(tmp_path, "World", "Liveness", specification="WithoutASweep")
    assert "Temporal properties were violated" in output


@EXPLORATION
@pytest.mark.parametrize("module", ["Mutants", "JobMutants"])
def test_without_any_of_the_guards_a_promise_is_broken(tmp_path, module):
    output = tlc.run(tmp_path, module)
    assert re.search(r"\d+ distinct states found, 0 states left", output)
    listed, _, found = output.partition("Computing initial states")
    guards = set(GUARD.findall(listed))
    broken = {guard for mutant in found.split('"broken"')[1:] for guard in GUARD.findall(mutant)}
    assert len(guards) > 25
    assert guards == broken
