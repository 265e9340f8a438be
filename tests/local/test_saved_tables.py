"""A local cloud whose tables are in a folder: kills, restarts, and what the folder holds."""

import random
import signal
import subprocess
import sys
from collections import Counter
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace

import boto3
import pytest
from duetime.local.resume import FoundActions
from duetime.local.saved_tables import SavedTables, saved_tables

from duetime.clock import SystemClock
from duetime.errors import BackendMisconfigured, OperationFailed
from duetime.local import LocalCloud
from duetime.local.addresses import REGION
from duetime.local.welcome import SavedData
from duetime.model.action import Status
from tests.emulated.call_lock import CallLock
from tests.emulated.emulator import Emulator
from tests.local.conftest import eventually, rest
from tests.local.ledger import TABLE, ledger, options

CLOCK = SystemClock()


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
    killed_at = CLOCK.now().isoformat()
    with LocalCloud(ledger(file), options(data)) as cloud:
        scheduler, dynamodb = cloud.scheduler(), cloud.client("dynamodb")
        eventually(lambda: all(scheduler.get(name).status is Status.EXECUTED for name in accepted.values()))
        eventually(lambda: runs_in(file)["tick"][-1] > killed_at)
        rows = [scheduler.get(name) for name in accepted.values()]
        for number, name in accepted.items():
            entry = dynamodb.get_item(TableName=TABLE, Key={"number": {"N": number}})["Item"]
            assert entry["by"] == {"S": name}
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


KEY = {"id": {"S": "a"}, "at": {"N": "1"}}
VALUES = {
    "text": {"S": ""},
    "number": {"N": "-1.50"},
    "bytes": {"B": b"\x00\xff"},
    "yes": {"BOOL": True},
    "nothing": {"NULL": True},
    "list": {"L": [{"M": {"deep": {"B": b"\xfe"}}}, {"NS": ["1", "2"]}]},
    "texts": {"SS": ["a", "b"]},
    "blobs": {"BS": [b"\x01", b"\x02"]},
}
NAMES = ("pairs", "singles", "names")
SHAPES = {
    "pairs": {"id": "S", "at": "N"},
    "singles": {"id": "B"},
    "late": {"id": "S", "at": "N"},
    "names": {"id": "S"},
}


@contextmanager
def emulated(data, *shapes):
    """Run moto with saved tables, and create these."""
    lock = CallLock()
    with ExitStack() as stack:
        stack.enter_context(saved_tables(data, lock))
        emulator = Emulator(lock, CLOCK)
        emulator.start()
        stack.callback(emulator.stop)
        client = boto3.client("dynamodb", region_name=REGION)
        for name in shapes:
            create(client, name, SHAPES[name])
        yield client


def create(client, name, shape):
    kinds = zip(shape, ("HASH", "RANGE"), strict=False)
    client.create_table(
        TableName=name,
        BillingMode="PAY_PER_REQUEST",
        KeySchema=[{"AttributeName": key, "KeyType": kind} for key, kind in kinds],
        AttributeDefinitions=[{"AttributeName": key, "AttributeType": kind} for key, kind in shape.items()],
    )


def items(client, name):
    return sorted(client.scan(TableName=name)["Items"], key=str)


@pytest.fixture(autouse=True)
def credentials(monkeypatch):
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "local")


def test_items_of_all_kinds_outlast_a_restart_however_they_were_written(data):
    put = {"Put": {"TableName": "names", "Item": {"id": {"S": "c"}}}}
    never = {"ConditionExpression": "attribute_exists(id)"}
    with emulated(data, *NAMES) as client:
        client.put_item(TableName="pairs", Item=KEY | VALUES)
        for number in ("2", "2.0"):  # one number
            client.put_item(TableName="pairs", Item={"id": {"S": "a"}, "at": {"N": number}})
        client.delete_item(TableName="pairs", Key={"id": {"S": "a"}, "at": {"N": "2.00"}})
        client.transact_write_items(TransactItems=[put])
        with pytest.raises(client.exceptions.TransactionCanceledException):
            client.transact_write_items(
                TransactItems=[
                    {"Delete": {"TableName": "pairs", "Key": KEY}},
                    {"Put": {"TableName": "singles", "Item": {"id": {"B": b"\x05"}}, **never}},
                ]
            )
        blobs = [{"PutRequest": {"Item": {"id": {"B": bytes([number, 255])}}}} for number in range(3)]
        client.batch_write_item(RequestItems={"singles": blobs})
        client.update_item(
            TableName="singles",
            Key={"id": {"B": b"\x07"}},
            UpdateExpression="ADD counted :one",
            ExpressionAttributeValues={":one": {"N": "1"}},
        )
        client.put_item(TableName="names", Item={"id": {"S": "d"}})
        client.execute_statement(Statement="DELETE FROM 'names' WHERE id = 'd'")
        before = {name: items(client, name) for name in NAMES}
    with emulated(data, *NAMES) as client:
        assert {name: items(client, name) for name in NAMES} == before
    assert before["pairs"] == [KEY | VALUES]
    assert (len(before["singles"]), before["names"]) == (4, [{"id": {"S": "c"}}])


def test_a_deleted_table_comes_back_without_its_items(data):
    with emulated(data, "pairs", "late") as client:
        for name in ("pairs", "late"):
            client.put_item(TableName=name, Item=KEY)
        client.delete_table(TableName="pairs")
    with emulated(data, "pairs") as client:
        assert items(client, "pairs") == []
    with emulated(data, "late") as client:  # though the process before did not create it
        assert items(client, "late") == [KEY]


def test_a_table_with_other_keys_is_rejected(data):
    with emulated(data, "singles") as client:
        client.put_item(TableName="singles", Item={"id": {"B": b"1"}})
    with (
        emulated(data) as client,
        pytest.raises(OperationFailed, match="the saved items of singles lack a key"),
    ):
        create(client, "singles", {"id": "B", "at": "N"})


def test_a_folder_in_use_is_rejected_and_its_cloud_keeps_running(data):
    with emulated(data, "pairs") as client:
        with pytest.raises(OperationFailed, match="another local cloud uses"):
            SavedTables(data)
        client.put_item(TableName="pairs", Item=KEY)
    SavedTables(data).close()


def test_a_file_in_the_place_of_the_folder_is_rejected(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(OperationFailed, match="name a folder that you may write to"):
        SavedTables(tmp_path / "file")


def test_a_file_of_another_program_is_rejected_and_the_folder_released(data):
    data.mkdir()
    (data / "tables.db").write_text("This file is not a database. " * 100)
    for _ in range(2):
        with pytest.raises(BackendMisconfigured, match="Name a file that duetime has made"):
            SavedTables(data)


NOON = datetime(2027, 6, 1, 12, tzinfo=UTC)


def found(*, due_at=None, planned=0, cut_short=0):
    return FoundActions(
        [SimpleNamespace(due_at=at) for at in due_at or ()], [None] * planned, [None] * cut_short, NOON
    )


@pytest.mark.parametrize(
    ("found", "text"),
    [
        (found(), "data has no action that waits."),
        (found(due_at=[NOON + timedelta(days=9)]), "data has 1 pending action, the next due 2027-06-10 "),
        (found(due_at=[NOON, NOON - timedelta(days=9)]), "2 pending actions, the first was due 2027-05-23 "),
        (
            found(planned=2, cut_short=1),
            "has 2 planned runs; 1 cut short, to run again once their leases end.",
        ),
    ],
)
def test_the_welcome_states_what_was_found(found, text):
    assert text in SavedData(Path("data"), found).text
