"""``duetime actions batches``: from the open batch to its redriven members."""

import json
from datetime import timedelta

import pytest

from duetime.actions.order import Order
from duetime.clock import SystemClock
from duetime.scheduler import Scheduler
from tests.cli.conftest import Remark

NAME = "import-2027-03"


@pytest.fixture
def batch(engine):
    cloud = engine.cloud
    scheduler = Scheduler(
        cloud.store, tenant_id="acme", actor="clerk", clock=SystemClock(), settings=cloud.settings
    )
    batch = scheduler.batch(NAME)
    batch.schedule_many(Order(Remark(), at=timedelta(hours=1)) for _ in range(4))
    return batch


def test_a_batch_that_nobody_closed_is_listed_and_closed(duetime, batch):
    status, printed, _ = duetime("actions", "batches", "list")
    assert status == 0
    assert [line.split()[:4] for line in printed.splitlines()][1] == [NAME, "open", "4", "0"]
    assert duetime("actions", "batches", "close", NAME)[:2] == (0, f"closed {NAME}\n")
    status, _, errors = duetime("actions", "batches", "close", NAME)
    assert status != 0
    assert "only an open one can be closed" in errors


def test_the_progress_is_shown_with_a_bar(duetime, batch):
    status, printed, _ = duetime("actions", "batches", "show", NAME)
    assert status == 0
    assert printed.splitlines()[1] == f"[{'.' * 30}] 0 %, 4 of 4 left"


def test_members_are_cancelled_after_a_look(duetime, batch):
    status, _, errors = duetime("actions", "batches", "cancel", NAME)
    assert (status != 0, "look with --dry-run" in errors) == (True, True)
    assert (
        duetime("actions", "batches", "cancel", NAME, "--dry-run")[1] == f"would cancel 4 members of {NAME}\n"
    )
    done = duetime("actions", "batches", "cancel", NAME, "--yes")
    assert done[:2] == (0, f"cancelled or requested to stop 4 members of {NAME}\n")
    left = json.loads(duetime("actions", "batches", "redrive", NAME, "--yes", "--json")[1])
    assert (left["changed"], left["dry_run"]) == ([], False)


def test_an_unknown_batch_is_not_found(duetime, engine):
    status, _, errors = duetime("actions", "batches", "show", "nothing")
    assert status != 0
    assert "there is no batch 'nothing'" in errors


def test_an_action_is_held_from_the_command_line(duetime, batch, engine):
    status, printed, errors = duetime(
        "schedule", "remark", "--payload", "{}", "--in", "0s", "--after", f"batch:{NAME}"
    )
    assert (status, errors) == (0, "")
    assert printed.splitlines()[0].endswith(f"held until batch:{NAME} has ended")
