"""Each seed draws its own faults, skew and settings, and deploys change the policies in mid-run."""

from itertools import chain
from unittest.mock import patch

import pytest

from tests.proof.policies import DUE_SHARDS, WORKERS, Policies
from tests.proof.world import USUAL, World

SEEDS = range(60)


def test_each_seed_draws_fault_rates_skew_and_settings():
    drawn = [drawn_by(seed) for seed in SEEDS]
    for name, usual in USUAL.items():
        assert {getattr(faults, name) for faults, _ in drawn} == {0.0, usual, 3 * usual}, name
    assert {faults.skew.total_seconds() for faults, _ in drawn} == {0, 5, 60}
    assert all(settings.clock_skew == faults.skew for faults, settings in drawn)
    assert {settings.due_shards for _, settings in drawn} == {*DUE_SHARDS}
    for name in ("timers", "retention", "catch_up_rate", "near_limit", "events", "worker_batch"):
        assert len({getattr(settings, name) for _, settings in drawn}) > 1, name
    assert len({str(world) for world in drawn}) == len(SEEDS)


def drawn_by(seed):
    world = World(seed)
    world.cloud.close()
    return world.faults, world.cloud.memory.settings


@pytest.mark.long
def test_deploys_change_each_policy_while_actions_are_under_way():
    changes, seeds = set(), iter(range(10))
    while not_in(changes) and (seed := next(seeds, None)) is not None:
        changes |= {*changes_of(seed)}
    assert not_in(changes) == set()
    assert {name for name, _, _ in changes} == {"timers", "due_shards", "retention", "workers", "overlap"}


def not_in(changes):
    """Return which kinds of changes there must be that are not among these."""
    found = {(name, after) for name, _, after in changes if name in {"timers", "workers"}}
    found |= {name for name, _, _ in changes}
    shards = {(before, after) for name, before, after in changes if name == "due_shards"}
    assert {*chain(*shards)} <= {*DUE_SHARDS}
    found |= {"more shards" if before < after else "fewer shards" for before, after in shards}
    numbers = {("workers", number) for number in WORKERS}
    timers = {("timers", "wheel"), ("timers", "eventbridge")}
    needed = timers | numbers | {"more shards", "fewer shards", "retention", "overlap"}
    return needed - found


def changes_of(seed):
    """Return what the deploys of a world changed while it had pending or running actions."""
    found = []

    def deploy(policies, world):
        before, is_busy = policies_of(world), not all(row.status.is_final for row in world.cloud.actions())
        DEPLOY(policies, world)
        after = policies_of(world)
        if is_busy:
            found.extend((name, before[name], after[name]) for name in before if before[name] != after[name])

    world = World(seed)
    with patch.object(Policies, "deploy", deploy):
        world.live(hours=2)
    world.cloud.close()
    return [change for change in found if change[1] is not None and change[2] is not None]


DEPLOY = Policies.deploy


def policies_of(world):
    """Return the policies in force; the overlap is that of the job `press-print`."""
    memory = world.cloud.memory
    named = {name: getattr(memory.settings, name) for name in ("timers", "due_shards", "retention")}
    overlaps = [
        job.definition.overlap for job in world.cloud.jobs.list(limit=200) if job.name == "press-print"
    ]
    return named | {"workers": memory.concurrency, "overlap": next(iter(overlaps), None)}
