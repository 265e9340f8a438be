"""Five hundred actions, with faults in the calls of AWS.

Each is executed exactly once, or never if it was cancelled in time.

The steps and the AWS clients of a deploy call an emulator through a proxy. The proxy throttles calls, resets
connections and loses answers of DynamoDB, SQS and EventBridge Scheduler. Its own counters prove the faults.
"""

import contextlib
import itertools
import json
import logging
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta

import boto3
import pytest
from botocore.config import Config
from botocore.exceptions import BotoCoreError

from duetime import Action, Scheduler, Status
from duetime.aws.items import from_item
from duetime.aws.keys import is_row
from duetime.model.action import Ending
from duetime.rehearsal import emulator
from duetime.settings import Made
from tests.e2e import fault_proxy
from tests.e2e.emulated import use_emulator
from tests.e2e.fault_proxy import Fault, TargetedFault, random_faults
from tests.e2e.orders import (
    BULK,
    CANCELLED,
    CHANCE,
    EFFECTS,
    FAR,
    LATER,
    NEAR,
    SEED,
    SOON,
    STUMBLING,
    Ordered,
    app,
    names,
    order_the_rest,
)
from tests.e2e.road import Emulated, Road

pytestmark = pytest.mark.e2e
RANDOM_TENANT, TARGETED_TENANT = "acme", "targeted"
"""Targeted faults have their own tenant, whose calls random faults spare."""
SETTLED_WITHIN, LOOK_EVERY = 400, 1.0
"""Seconds."""
SETTINGS = {
    "near_limit": timedelta(seconds=12),
    "wake_early": timedelta(seconds=8),
    "lease": timedelta(seconds=12),
    "heartbeat": timedelta(seconds=4),
    "cancel_poll": timedelta(seconds=1),
    "clock_skew": timedelta(seconds=1),
    "grace": timedelta(seconds=4),
    "made": Made(queue_visibility=timedelta(seconds=25)),
}
FIRST_RUN = '":fence":{"N":"1"}'
"""In the body of a commit."""
NEVER_CLAIMED = TargetedFault("dynamodb", "UpdateItem", Fault.RESET, times=5)
CLAIMED_UNAWARES = TargetedFault("dynamodb", "UpdateItem", Fault.LOST, times=9)
"""More than the five tries of one client, fewer than those of two.

The claim of a doubled wake may use up some of them.
"""
NEVER_COMMITTED = TargetedFault("dynamodb", "TransactWriteItems", Fault.RESET, only=FIRST_RUN)
COMMITTED_UNAWARES = TargetedFault("dynamodb", "TransactWriteItems", Fault.LOST, only=FIRST_RUN)
TARGETED_FAULTS = (
    NEVER_CLAIMED,
    CLAIMED_UNAWARES,
    NEVER_COMMITTED,
    COMMITTED_UNAWARES,
    TargetedFault("sqs", "SendMessageBatch", Fault.THROTTLED, times=5),
    TargetedFault("sqs", "SendMessageBatch", Fault.LOST, times=5),
    TargetedFault("scheduler", "CreateSchedule", Fault.RESET, times=2),
    TargetedFault("scheduler", "CreateSchedule", Fault.LOST, times=2),
)
"""Each hits one action until the AWS client gives up; for SQS, an action that is sent at once."""
WRITES = {
    "dynamodb": ("UpdateItem", "TransactWriteItems"),
    "sqs": ("SendMessageBatch",),
    "scheduler": ("CreateSchedule",),
}
GIVEN_UP = {
    "timer not set",
    "batch not armed, it will come again",
    "message will come again",
}
"""The warnings of the steps after the AWS client gave up: they must recover themselves.

A commit in doubt is not among them: if another run takes over before the client gives up, the row resolves
the doubt.
"""
ONCE = Config(retries={"mode": "standard", "total_max_attempts": 1})


@dataclass(frozen=True)
class Left:
    """What there was when nothing was on its way any more."""

    rows: Mapping[str, Action]
    """By the name in their payloads."""
    effects: Mapping[str, int]
    faults: Mapping[tuple[str, str, Fault], int]
    targeted_faults: Mapping[TargetedFault, tuple[Action, int]]
    """The action that each came over, and how often it fired."""
    dispatched: set[str]
    """The ids of the actions whose timer came."""
    warnings: set[str]
    """The warnings of the steps."""


@pytest.fixture(scope="module")
def emulated(tmp_path_factory):
    directory = tmp_path_factory.mktemp("emulated")
    with pytest.MonkeyPatch.context() as patch, emulator.running(directory) as endpoint:
        use_emulator(patch, endpoint)
        patch.delenv("AWS_ENDPOINT_URL")  # the steps call the proxy, the feeds the emulator
        yield Emulated(endpoint)


@pytest.fixture(scope="module")
def proxy(emulated, tmp_path_factory):
    directory = tmp_path_factory.mktemp("proxy")
    with (
        fault_proxy.over(emulated.endpoint, directory, seed=SEED) as made,
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.setenv("AWS_ENDPOINT_URL", made.endpoint)
        boto3.client("dynamodb").list_tables()  # it reads its models at the first call of each service
        boto3.client("sqs").list_queues()
        boto3.client("scheduler").list_schedules()
        yield made


@pytest.fixture(scope="module")
def road(emulated, proxy):
    emulated.client("dynamodb").create_table(
        TableName=EFFECTS,
        BillingMode="PAY_PER_REQUEST",
        KeySchema=[{"AttributeName": "name", "KeyType": "HASH"}],
        AttributeDefinitions=[{"AttributeName": "name", "AttributeType": "S"}],
    )
    made = Road(emulated, app, SETTINGS)
    with pytest.MonkeyPatch.context() as patch:
        for name, value in made.settings.to_env().items():
            patch.setenv(name, value)
        yield made


@pytest.fixture(scope="module")
def left(emulated, proxy, road):
    ordered, ordered_first = (
        Ordered(Scheduler.from_env(tenant_id=tenant, actor="e2e"))
        for tenant in (RANDOM_TENANT, TARGETED_TENANT)
    )
    targets = [
        ordered_first.one(f"targeted-{number}", SOON if targeted.service == "sqs" else LATER)
        for number, targeted in enumerate(TARGETED_FAULTS)
    ]
    breaking = [
        targeted.over(action_id) for targeted, action_id in zip(TARGETED_FAULTS, targets, strict=True)
    ]
    proxy.make([*breaking, *random_faults(CHANCE, sparing=TARGETED_TENANT)])
    with warnings_of("duetime") as warnings, road.fed():
        order_the_rest(ordered)
        eventually(lambda: all(row.status.is_final for row in rows_of(road)) and road.is_empty())
        fired, faults = proxy.fired(), proxy.faults()
        proxy.make([])
    rows = {row.id: row for row in rows_of(road)}
    by_name = {json.loads(row.payload)["name"]: row for row in rows.values()}
    assert len(by_name) == len(rows), "something was scheduled twice"
    targeted_faults = dict(
        zip(
            TARGETED_FAULTS, zip((rows[action_id] for action_id in targets), fired, strict=False), strict=True
        )
    )
    return Left(by_name, effects_in(emulated), faults, targeted_faults, road.dispatched, warnings)


@contextlib.contextmanager
def warnings_of(name):
    """Yield the messages of the logger's warnings."""
    warnings, handler = set(), logging.Handler(logging.WARNING)
    handler.emit = lambda record: warnings.add(record.msg)
    logging.getLogger(name).addHandler(handler)
    try:
        yield warnings
    finally:
        logging.getLogger(name).removeHandler(handler)


def eventually(look):
    ends, pause = time.monotonic() + SETTLED_WITHIN, threading.Event()
    while not look():
        assert time.monotonic() < ends, f"not settled within {SETTLED_WITHIN} s"
        pause.wait(LOOK_EVERY)


def rows_of(road):
    found = road.emulated.items(road.settings.made.actions_table)
    rows = (from_item(item) for item in found if is_row(item))
    return [row for row in rows if row.tenant_id in {RANDOM_TENANT, TARGETED_TENANT}]


def effects_in(emulated):
    return {item["name"]["S"]: int(item["times"]["N"]) for item in emulated.items(EFFECTS)}


@pytest.mark.parametrize(("fault", "is_written"), [(Fault.RESET, False), (Fault.LOST, True)])
def test_a_reset_request_was_not_applied_and_one_with_a_lost_response_was(
    emulated, proxy, road, fault, is_written
):
    client, name = boto3.client("dynamodb", config=ONCE), f"probe-{fault.name}"
    proxy.make([TargetedFault("dynamodb", "PutItem", fault, 1).over(name)])
    key = {"name": {"S": name}}
    with pytest.raises(BotoCoreError):
        client.put_item(TableName=EFFECTS, Item=key)
    dynamodb = emulated.client("dynamodb")
    assert ("Item" in dynamodb.get_item(TableName=EFFECTS, Key=key)) is is_written
    dynamodb.delete_item(TableName=EFFECTS, Key=key)


def test_all_that_was_ordered_is_there_once_and_is_settled(left):
    expected = {
        **dict.fromkeys(names("bulk", BULK), Status.EXECUTED),
        **dict.fromkeys(names("near", NEAR), Status.EXECUTED),
        **dict.fromkeys(names("stumbling", STUMBLING), Status.EXECUTED),
        **dict.fromkeys(names("targeted", len(TARGETED_FAULTS)), Status.EXECUTED),
        **dict.fromkeys(names("far", FAR), Status.EXECUTED),
        **dict.fromkeys(names("cancelled", CANCELLED), Status.CANCELLED),
    }
    assert len(expected) == 500
    assert {name: row.status for name, row in left.rows.items()} == expected


def test_each_effect_was_committed_exactly_once_and_no_cancelled_one(left):
    executed = [name for name, row in left.rows.items() if row.status is Status.EXECUTED]
    assert left.effects == dict.fromkeys(executed, 1)


def test_attempts_count_runs_and_recoveries_the_runs_that_were_lost(left):
    for name, row in left.rows.items():
        expected = {"cancelled": 0, "stumbling": 2}.get(name.partition("-")[0], 1)
        assert row.attempt == expected, name
        assert row.fence == len(row.attempts) == row.attempt + row.recoveries, name
        assert [attempt.ending for attempt in row.attempts].count(Ending.EXECUTED) == (expected > 0), name


def test_nothing_ran_before_its_time(left):
    assert not [
        name
        for name, row in left.rows.items()
        if any(attempt.started_at < row.nominal_at for attempt in row.attempts)
    ]


def test_far_actions_came_by_the_timers_that_the_emulator_fired(left):
    far = {row.id for name, row in left.rows.items() if name.startswith("far")}
    assert len(left.dispatched & far) > len(far) / 2


def test_every_service_met_every_fault_on_its_writes(left):
    for service, operations in WRITES.items():
        for operation, fault in itertools.product(operations, Fault):
            assert left.faults[service, operation, fault] >= 3, f"{fault} on {service} {operation}"


def test_the_client_gave_up_more_than_once_and_our_steps_went_on(left):
    assert all(fired for _, fired in left.targeted_faults.values()), left.targeted_faults
    assert left.warnings >= GIVEN_UP


@pytest.mark.parametrize("targeted", [CLAIMED_UNAWARES, NEVER_COMMITTED])
def test_a_run_that_held_its_action_and_could_not_end_is_made_again_under_the_next_fence(left, targeted):
    action, _ = left.targeted_faults[targeted]
    assert action.recoveries
    assert action.attempts[0].finished_at is None


@pytest.mark.parametrize("targeted", [NEVER_CLAIMED, COMMITTED_UNAWARES])
def test_a_run_that_was_never_claimed_or_has_committed_unawares_is_made_once(left, targeted):
    action, _ = left.targeted_faults[targeted]
    assert (action.fence, action.recoveries) == (1, 0)
