"""A local cloud whose file is in a folder: kills, restarts, and what the folder holds."""

import random
import signal
import subprocess
import sys
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from duetime.clock import SystemClock
from duetime.errors import BackendMisconfigured, OperationFailed
from duetime.local import LocalCloud
from duetime.local.welcome import SavedData
from duetime.model.action import Status
from duetime.sqlite.rows import Found
from tests.local.conftest import eventually, rest
from tests.local.ledger import ledger, options


@pytest.fixture
def data(tmp_path):
    return tmp_path / "data"


@pytest.fixture
def begin(data, tmp_path):
    """Return a function that runs the ledger's process, and returns what it scheduled.

    The process is killed so many seconds after it has scheduled its first eleven actions.
    """

    def begin(first, seconds):
        command = [sys.executable, "-m", "tests.local.ledger", str(data), str(tmp_path / "runs"), str(first)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:  # noqa: S603 - our own
            assert process.stdout.readline() == "ready\n"
            lines = [process.stdout.readline() for _ in range(11)]
            rest(seconds)
            process.send_signal(signal.SIGKILL)
            lines += process.stdout.read().splitlines(keepends=True)
        return dict(line.split() for line in lines if line[-1] == "\n")

    return begin


@pytest.mark.long
def test_kills_lose_no_action_and_repeat_none_that_ended_and_jobs_go_on(data, begin, tmp_path):
    dice, file = random.Random(5), tmp_path / "runs"  # noqa: S311 - when each process dies
    accepted = begin(0, dice.random()) | begin(10_000, dice.random())
    assert len(accepted) > 20
    killed_at = SystemClock().now().isoformat()
    with LocalCloud(ledger(file), options(data)) as cloud:
        scheduler = cloud.scheduler()
        assert cloud.found.pending + cloud.found.cut_short > 0
        eventually(lambda: all(scheduler.get(name).status is Status.EXECUTED for name in accepted.values()))
        eventually(lambda: runs_in(file)["tick"][-1] > killed_at)
        rows = [scheduler.get(name) for name in accepted.values()]
    runs = runs_in(file)
    assert {name for name, times in Counter(runs["entry"]).items() if times > 1} <= {
        row.id for row in rows if row.recoveries
    }


def runs_in(file):
    """Return the actions that ran, and the times of the job, in the order of their starts."""
    runs = {"entry": [], "tick": []}
    for kind, name, _ in map(str.split, file.read_text().splitlines()):
        runs[kind].append(name)
    return runs


def test_a_file_in_the_place_of_the_folder_is_rejected(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(OperationFailed, match="cannot be used: File exists; choose another"):
        LocalCloud(ledger(tmp_path / "runs"), options(tmp_path / "file")).start()


def test_a_file_of_another_program_is_rejected_and_nothing_is_left(data, tmp_path):
    data.mkdir()
    (data / "duetime.db").write_text("This file is not a database. " * 100)
    for _ in range(2):
        with pytest.raises(BackendMisconfigured, match="Name a file that duetime has made"):
            LocalCloud(ledger(tmp_path / "runs"), options(data)).start()


NOON = datetime(2027, 6, 1, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("found", "text"),
    [
        (Found(0, 0, 0, None), "data has no action that waits."),
        (Found(1, 0, 0, NOON + timedelta(days=9)), "data has 1 pending action, the next due 2027-06-10 "),
        (Found(2, 0, 0, NOON - timedelta(days=9)), "2 pending actions, the first was due 2027-05-23 "),
        (Found(0, 2, 1, None), "has 2 planned runs; 1 cut short, to run again once their leases end."),
    ],
)
def test_the_welcome_states_what_was_found(found, text):
    assert text in SavedData(Path("data"), found, NOON).text
