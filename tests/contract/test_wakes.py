"""The contracts of queues and timers, over memory and moto."""
# ruff: noqa: ARG002 - a contract hands its hooks more than each needs

import json
import threading
from datetime import UTC, datetime, timedelta

import pytest

from duetime.aws import clients
from duetime.aws.backends import AwsBackends
from duetime.aws.messages import from_json
from duetime.aws.queues import SqsQueues
from duetime.aws.timers import EventBridgeTimers
from duetime.errors import BackendMisconfigured, BackendUnavailable
from duetime.ids import TenantId, new_action_id
from duetime.memory.wakes import MemoryQueues, MemoryTimers
from duetime.model.action import ActionRef
from duetime.ports.wakeups import Delivery, Send
from duetime.settings import Made, Settings
from duetime.testing import TurnedClock
from duetime_contract import DueQueuesContract, TimersContract
from duetime_contract.specimens import HOUR, NOON
from duetime_contract.wakes import message
from tests.emulated import moto_patches

ACCOUNT = "123456789012"


class TestMemoryQueues(DueQueuesContract):
    @pytest.fixture
    def queues(self):
        self.clock = TurnedClock(NOON)
        self.put_back = {}
        return MemoryQueues(self.clock, timedelta(seconds=self.VISIBILITY))

    def receive(self, queues, queue):
        """One process has one line for all queues.

        A message of another queue stays for that queue's reader.
        """
        while (received := queues.receive()) is not None:
            self.put_back.setdefault(received[0], []).append(received[1])
        return self.put_back.pop(queue, [])

    def let_pass(self, queues, seconds):
        self.clock.wait_until(self.clock.now() + timedelta(seconds=seconds))


class TestSqsQueues(DueQueuesContract):
    @pytest.fixture
    def queues(self, moto):
        self.client = moto["sqs"]
        self.urls = {
            name: self.client.create_queue(
                QueueName=f"duetime-{name}", Attributes={"VisibilityTimeout": str(self.VISIBILITY)}
            )["QueueUrl"]
            for name in self.QUEUES
        }
        return SqsQueues(self.client, self.urls)

    def receive(self, queues, queue):
        answer = self.client.receive_message(
            QueueUrl=self.urls[queue],
            MaxNumberOfMessages=10,
            MessageSystemAttributeNames=["SentTimestamp"],
        )
        return [_delivery(received) for received in answer.get("Messages", [])]

    def let_pass(self, queues, seconds):
        threading.Event().wait(seconds)

    def test_a_queue_that_the_settings_do_not_name_is_a_clear_error(self, queues):
        with pytest.raises(BackendMisconfigured, match="no queue is named 'invoices'"):
            queues.send([Send("invoices", message(), 0)])

    def test_a_queue_that_does_not_exist_is_a_clear_error(self, queues):
        gone = SqsQueues(self.client, {"default": self.urls["default"] + "-gone"})
        with pytest.raises(BackendMisconfigured, match="DUETIME_QUEUES"):
            gone.send([Send("default", message(), 0)])

    def test_a_message_that_sqs_rejects_is_reported(self, queues):
        class TakesAllButOne:
            """SQS may refuse single messages of a batch; moto never does."""

            def send_message_batch(self, **request):
                answer = client.send_message_batch(**request | {"Entries": request["Entries"][1:]})
                return {**answer, "Failed": [{"Id": "0", "Message": "try again"}]}

        client = self.client
        with pytest.raises(BackendUnavailable, match="1 of 2 messages: try again"):
            SqsQueues(TakesAllButOne(), self.urls).send([Send("default", message(), 0)] * 2)


def of_tenant(tenant_id, number=1):
    return message(ref=ActionRef(TenantId(tenant_id), new_action_id(NOON)), generation=number)


class TestFairness:
    """A queue is fair among tenants: SQS as documented, memory and the local cloud as tested here."""

    def test_in_memory_the_tenant_with_the_fewest_in_flight_comes_first(self):
        queues = MemoryQueues(TurnedClock(NOON), timedelta(seconds=60))
        queues.send([Send("default", of_tenant("noisy", number), 0) for number in range(9)])
        received = [queues.receive()[1] for _ in range(4)]
        queues.send([Send("default", of_tenant("quiet", number), 0) for number in range(5)])
        assert [queues.receive()[1].message.ref.tenant_id for _ in range(5)] == ["quiet"] * 4 + ["noisy"]
        for delivery in received:
            queues.delete(delivery.receipt)
        assert queues.receive()[1].message.ref.tenant_id == "noisy"

    def test_in_memory_a_message_is_in_flight_until_it_is_visible_again(self):
        clock = TurnedClock(NOON)
        queues = MemoryQueues(clock, timedelta(seconds=60))
        queues.send([Send("default", of_tenant("noisy"), 0), Send("default", of_tenant("noisy"), 70)])
        queues.receive()
        clock.wait_until(NOON + timedelta(seconds=70))
        assert {queues.receive()[1].message.ref.tenant_id for _ in range(2)} == {"noisy"}
        assert queues.receive() is None
        assert queues.next_at() == NOON + timedelta(seconds=130)

    def test_in_memory_messages_of_the_first_queue_come_before_older_ones_of_others(self):
        queues = MemoryQueues(TurnedClock(NOON), timedelta(seconds=60))
        queues.send([Send("default", of_tenant("noisy"), 0), Send("default_high", of_tenant("noisy"), 0)])
        received = [queues.receive(first="default_high")[0] for _ in range(2)]
        assert received == ["default_high", "default"]
        assert queues.receive(first="default_high") is None

    @pytest.mark.parametrize(
        ("tenant", "number", "turns"),
        [
            ("quiet", 1, ["quiet", "noisy", "noisy", "noisy"]),
            ("default", 3, [None, None, None, "noisy"]),  # each without a group is a tenant of its own
        ],
    )
    def test_on_the_local_cloud_too(self, moto, tenant, number, turns):
        sqs = moto["sqs"]
        url = sqs.create_queue(QueueName="duetime-due")["QueueUrl"]
        queues = SqsQueues(sqs, {"default": url})
        with moto_patches.fair_queues():
            queues.send([Send("default", of_tenant("noisy", place), 0) for place in range(9)])
            assert len(tenants_received(sqs, url, 4)) == 4
            queues.send([Send("default", of_tenant(tenant, place), 0) for place in range(number)])
            assert [*tenants_received(sqs, url, 2), *tenants_received(sqs, url, 2)] == turns

    def test_a_deployment_of_one_tenant_pays_for_no_groups(self, moto, monkeypatch):
        sqs = moto["sqs"]
        monkeypatch.setattr(clients, "sqs", lambda *_: sqs)
        url = sqs.create_queue(QueueName="duetime-due")["QueueUrl"]
        for tenants, tenant_id, group in (
            ("acme", "acme", None),
            ("", "acme", "acme"),
            ("acme globex", "acme", "acme"),
            ("", "default", None),
        ):
            settings = Settings(tenants=tenants, made=Made(queues={"default": url}))
            backends = AwsBackends(settings, TurnedClock(NOON))
            backends.queues.send([Send("default", of_tenant(tenant_id), 0)])
            assert tenants_received(sqs, url, 1) == [group]


def tenants_received(sqs, url, most):
    response = sqs.receive_message(
        QueueUrl=url, MaxNumberOfMessages=most, MessageSystemAttributeNames=["MessageGroupId"]
    )
    return [received.get("Attributes", {}).get("MessageGroupId") for received in response["Messages"]]


class TestMemoryTimers(TimersContract):
    @pytest.fixture
    def timers(self):
        return MemoryTimers()

    def wakes(self, timers, until):
        return timers.fire(until)


class TestEventBridgeTimers(TimersContract):
    @pytest.fixture
    def timers(self, moto):
        settings = Settings(
            made=Made(
                dispatch_arn=f"arn:aws:lambda:eu-west-1:{ACCOUNT}:function:dispatch",
                timer_role_arn=f"arn:aws:iam::{ACCOUNT}:role/timers",
            )
        )
        self.client, self.group = moto["scheduler"], settings.made.schedule_group
        self.client.create_schedule_group(Name=self.group)
        return EventBridgeTimers(self.client, settings)

    def wakes(self, timers, until):
        """What EventBridge's documentation says of ``at()``: it wakes within the minute that begins then."""
        schedules = self._schedules()
        return [from_json(schedule["Target"]["Input"])[0] for schedule in schedules if _at(schedule) <= until]

    def test_a_timer_is_removed_by_its_name(self, timers):
        for number in range(2):
            timers.set(message(ref=ActionRef("acme", new_action_id(NOON))), NOON + number * HOUR)
        first, second = timers.known()
        timers.remove(first)
        timers.remove(first)
        assert [*timers.known()] == [second]

    def test_a_timer_is_gone_by_itself_once_it_has_fired(self, timers):
        timers.set(message(NOON + HOUR), NOON)
        (schedule,) = self._schedules()
        assert schedule["ActionAfterCompletion"] == "DELETE"
        assert schedule["ScheduleExpressionTimezone"] == "UTC"

    def test_setting_a_timer_twice_makes_one_schedule(self, timers):
        wake = message()
        timers.set(wake, NOON)
        timers.set(wake, NOON)
        assert len(self._schedules()) == 1

    def _schedules(self):
        listed = self.client.list_schedules(GroupName=self.group)["Schedules"]
        return [self.client.get_schedule(GroupName=self.group, Name=schedule["Name"]) for schedule in listed]


def _delivery(received):
    """As the worker's Lambda reads an SQS record."""
    message, delay = from_json(json.loads(received["Body"]))
    sent_at = datetime.fromtimestamp(int(received["Attributes"]["SentTimestamp"]) / 1000, UTC)
    return Delivery(message, sent_at + timedelta(seconds=delay), received["ReceiptHandle"])


def _at(schedule):
    return datetime.strptime(schedule["ScheduleExpression"], "at(%Y-%m-%dT%H:%M:%S)").replace(tzinfo=UTC)
