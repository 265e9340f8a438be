"""``duetime actions batches``: from the open batch to its redriven members."""

import json
from datetime import timedelta

import pytest

from duetime.actions.order import Order
from duetime.cli.client import Answer
from duetime.cli.many import completed
from duetime.clock import SystemClock
from duetime.scheduler import Scheduler
from tests.cli.conftest import Doomed, Remark

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
    status, printed, _ = duetime("actions", "batches")
    assert status == 0
    assert [line.split()[:4] for line in printed.splitlines()][1] == [NAME, "open", "4", "0"]
    assert duetime("actions", "batches", NAME, "close")[:2] == (0, f"closed {NAME}\n")
    status, _, errors = duetime("actions", "batches", NAME, "close")
    assert status != 0
    assert "only an open one can be closed" in errors


def test_the_progress_is_shown_with_a_bar(duetime, batch):
    status, printed, _ = duetime("actions", "batches", NAME)
    assert status == 0
    assert printed.splitlines()[1] == f"[{'.' * 30}] 0 %, 4 of 4 left"


def test_members_are_cancelled_after_a_look(duetime, batch):
    status, _, errors = duetime("actions", "batches", NAME, "cancel")
    assert (status != 0, "look with --dry-run" in errors) == (True, True)
    assert (
        duetime("actions", "batches", NAME, "cancel", "--dry-run")[1] == f"would cancel 4 members of {NAME}\n"
    )
    done = duetime("actions", "batches", NAME, "cancel", "--yes")
    assert done[:2] == (0, f"cancelled or requested to stop 4 members of {NAME}\n")
    left = json.loads(duetime("actions", "batches", NAME, "redrive", "--yes", "--json")[1])
    assert (left["changed"], left["dry_run"]) == ([], False)


@pytest.fixture
def failed_batch(engine):
    """Three members, two of which have failed."""
    cloud = engine.cloud
    scheduler = Scheduler(
        cloud.store, tenant_id="acme", actor="clerk", clock=SystemClock(), settings=cloud.settings
    )
    with scheduler.batch(NAME) as batch:
        batch.schedule_many(Order(payload, at=timedelta(0)) for payload in (Doomed(), Remark(), Doomed()))
    clock = SystemClock()
    while scheduler.batches.get(NAME).state != "complete":
        clock.wait_until(clock.now() + timedelta(seconds=0.1))
    assert scheduler.batches.get(NAME).counts.failed == 2
    return scheduler


def test_a_redriven_batch_is_watched_until_it_is_complete_again(duetime, failed_batch, repair):
    status, printed, _ = duetime("actions", "batches", NAME, "redrive", "--yes", "--watch")
    first, name, _, counts, *_ = printed.splitlines()
    assert (status, first, name) == (1, f"redriven 2 members of {NAME}", f"{NAME}: complete")
    assert counts == "executed 1, failed 2, cancelled 0, skipped 0"
    repair()
    status, printed, _ = duetime("actions", "batches", NAME, "redrive", "--yes", "--watch", "--json")
    batch = json.loads(printed)
    assert (status, batch["state"], batch["executed"]) == (0, "complete", 3)
    status, printed, _ = duetime("actions", "batches", NAME, "redrive", "--yes", "--watch")
    assert (status, printed.splitlines()[0]) == (0, f"redriven 0 members of {NAME}")


class Answers:
    """A client, and a clock, of which each wait lets a batch go on."""

    def __init__(self, *batches):
        self.batches, self.waits = list(batches), 0

    def call(self, _operation, _given):
        return Answer(200, self.batches[min(self.waits, len(self.batches) - 1)], None)

    def now(self):
        return SystemClock().now()

    def wait_until(self, _instant):
        self.waits += 1


def test_the_progress_is_printed_until_two_reads_in_a_row_find_the_batch_complete(capsys):
    states = [("running", None, 0), ("running", "09:00", 2), ("running", "09:01", 2), ("running", "09:02", 1)]
    states += [("complete", "09:03", 0), ("running", "09:04", 1), ("complete", "09:05", 0)]
    answers = Answers(
        *({"state": state, "counted_at": at, "left": left, "size": 3} for state, at, left in states)
    )
    assert completed(answers, NAME, answers) == answers.batches[-1]
    assert answers.waits == len(states)
    lines = capsys.readouterr().err.splitlines()
    assert lines == ["not counted yet", *(f"{left} of 3 left" for left in (2, 1, 0, 1, 0))]


def test_an_open_batch_and_a_dry_run_cannot_be_watched(duetime, batch):
    status, _, errors = duetime("actions", "batches", NAME, "redrive", "--yes", "--watch")
    assert (status, "is open, so it is not complete before it is closed" in errors) == (2, True)
    status, _, errors = duetime("actions", "batches", NAME, "redrive", "--dry-run", "--watch")
    assert (status, "nothing to --watch" in errors) == (2, True)


def test_an_unknown_batch_is_not_found(duetime, engine):
    status, _, errors = duetime("actions", "batches", "nothing")
    assert status != 0
    assert "there is no batch 'nothing'" in errors


def test_an_action_is_held_from_the_command_line(duetime, batch, engine):
    status, printed, errors = duetime(
        "schedule", "remark", "--payload", "{}", "--in", "0s", "--after", f"batch:{NAME}"
    )
    assert (status, errors) == (0, "")
    assert printed.splitlines()[0].endswith(f"held until batch:{NAME} has ended")
