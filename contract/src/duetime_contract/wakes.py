"""The ports of wake-ups: due queues, timers, routes to workers, and bookmarks of sweeps."""
# ruff: noqa: D102, S101 - a test's name is its sentence

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from duetime.ids import JobName, TenantId, new_action_id, occurrence_id
from duetime.model.action import ActionRef
from duetime.model.manifest import Manifest
from duetime.ports.wakeups import Bookmarks, Delivery, DueMessage, DueQueues, Routes, Send, Timers
from duetime_contract.specimens import ACME, GLOBEX, HOUR, MINUTE, NOON


def message(
    due_at: datetime = NOON, *, generation: int = 1, ref: ActionRef | None = None, payload_version: int = 1
) -> DueMessage:
    """A wake for an action of its own, unless one is given."""
    ref = ref or ActionRef(ACME, new_action_id(NOON - HOUR))
    return DueMessage(
        ref=ref,
        type="apply-plan-change",
        due_at=due_at,
        generation=generation,
        payload_version=payload_version,
    )


class DueQueuesContract:
    """The workers' queues. They are `QUEUES`; a received message comes again after `VISIBILITY` seconds."""

    QUEUES = ("default", "reports")
    VISIBILITY = 2

    @pytest.fixture
    def queues(self) -> DueQueues:
        raise NotImplementedError("override the fixture `queues`: it returns your back end with empty queues")

    @abstractmethod
    def receive(self, queues: DueQueues, queue: str) -> Sequence[Delivery]:
        """Everything that may be received from `queue` now."""

    @abstractmethod
    def let_pass(self, queues: DueQueues, seconds: float) -> None:
        """Return when that much time has passed for the queues: sleep, or turn the clock they were given."""

    def test_a_message_arrives_as_it_was_sent(self, queues: DueQueues) -> None:
        sent = message(NOON + timedelta(microseconds=123_456), generation=7, payload_version=3)
        queues.send([Send("default", sent, 0)])
        (delivery,) = self.receive(queues, "default")
        assert delivery.message == sent

    def test_more_messages_than_a_batch_holds_all_arrive(self, queues: DueQueues) -> None:
        sent = [message(NOON, generation=number) for number in range(25)]
        queues.send([Send("default", delivery, 0) for delivery in sent])
        received = [delivery.message for delivery in self._received(queues, "default")]
        assert sorted(received, key=lambda delivery: delivery.generation) == sent

    def test_each_queue_gets_its_own_messages(self, queues: DueQueues) -> None:
        mine, theirs = message(), message()
        queues.send([Send("default", mine, 0), Send("reports", theirs, 0)])
        assert [delivery.message for delivery in self.receive(queues, "default")] == [mine]
        assert [delivery.message for delivery in self.receive(queues, "reports")] == [theirs]

    def test_sending_nothing_changes_nothing(self, queues: DueQueues) -> None:
        queues.send([])
        assert list(self.receive(queues, "default")) == []

    def test_a_delayed_message_is_not_received_before_its_delay(self, queues: DueQueues) -> None:
        queues.send([Send("default", message(), 2), Send("default", message(), 0)])
        assert len(self.receive(queues, "default")) == 1
        self.let_pass(queues, 2.1)
        assert len(self.receive(queues, "default")) >= 1

    def test_the_longest_delay_is_taken(self, queues: DueQueues) -> None:
        queues.send([Send("default", message(), 900)])
        assert list(self.receive(queues, "default")) == []

    def test_a_delivery_has_the_time_of_its_first_possible_receive(self, queues: DueQueues) -> None:
        queues.send([Send("default", message(generation=0), 0), Send("default", message(generation=1), 1)])
        self.let_pass(queues, 1.1)
        at_once, delayed = sorted(
            self.receive(queues, "default"), key=lambda delivery: delivery.message.generation
        )
        assert abs(delayed.queued_at - at_once.queued_at - timedelta(seconds=1)) < timedelta(seconds=0.5)

    def test_a_received_message_is_invisible_until_its_time_is_up(self, queues: DueQueues) -> None:
        queues.send([Send("default", message(), 0)])
        self.receive(queues, "default")
        assert list(self.receive(queues, "default")) == []
        self.let_pass(queues, self.VISIBILITY + 0.1)
        assert len(self.receive(queues, "default")) == 1

    def test_an_extended_message_stays_invisible_for_longer(self, queues: DueQueues) -> None:
        queues.send([Send("default", message(), 0)])
        (delivery,) = self.receive(queues, "default")
        queues.extend("default", delivery.receipt, 60)
        self.let_pass(queues, self.VISIBILITY + 0.1)
        assert list(self.receive(queues, "default")) == []

    def test_extending_by_nothing_makes_a_message_visible_at_once(self, queues: DueQueues) -> None:
        queues.send([Send("default", message(), 0)])
        (delivery,) = self.receive(queues, "default")
        queues.extend("default", delivery.receipt, 0)
        assert [delivery.message for delivery in self.receive(queues, "default")] == [delivery.message]

    def test_extending_a_deleted_message_changes_nothing(self, queues: DueQueues) -> None:
        queues.extend("default", "a receipt of no message", 60)

    def _received(self, queues: DueQueues, queue: str) -> Iterator[Delivery]:
        while received := self.receive(queues, queue):
            yield from received


class TimersContract:
    """The far actions' timers."""

    @pytest.fixture
    def timers(self) -> Timers:
        raise NotImplementedError("override the fixture `timers`: it returns your back end with no timer set")

    @abstractmethod
    def wakes(self, timers: Timers, until: datetime) -> Sequence[DueMessage]:
        """What the dispatcher would have been woken with until then, each wake once or more."""

    def test_a_timer_wakes_with_its_message_within_a_minute(self, timers: Timers) -> None:
        wake = message(NOON + HOUR, generation=3, payload_version=2)
        timers.set(wake, NOON)
        assert set(self.wakes(timers, NOON + MINUTE)) == {wake}

    def test_a_timer_does_not_wake_before_its_time(self, timers: Timers) -> None:
        timers.set(message(NOON + HOUR), NOON)
        assert list(self.wakes(timers, NOON - timedelta(seconds=1))) == []

    def test_a_timer_may_be_set_again(self, timers: Timers) -> None:
        wake = message(NOON + HOUR)
        timers.set(wake, NOON)
        timers.set(wake, NOON)
        assert set(self.wakes(timers, NOON + MINUTE)) == {wake}

    def test_each_action_has_its_own_timer(self, timers: Timers) -> None:
        sent = {message(), message()}
        for wake in sent:
            timers.set(wake, NOON)
        assert set(self.wakes(timers, NOON + MINUTE)) == sent

    @pytest.mark.parametrize("tenants", [(ACME, GLOBEX), (ACME, TenantId("x" * 60))])
    def test_the_same_id_of_two_tenants_has_two_timers(
        self, timers: Timers, tenants: tuple[TenantId, TenantId]
    ) -> None:
        """Two tenants' jobs of one name have runs of one id."""
        for run_id in (occurrence_id(JobName("nightly-report"), 1, NOON), new_action_id(NOON)):
            cancelled, remaining = (message(ref=ActionRef(tenant, run_id)) for tenant in tenants)
            timers.set(cancelled, NOON)
            timers.set(remaining, NOON)
            timers.clear(cancelled)
            assert set(self.wakes(timers, NOON + MINUTE)) == {remaining}
            timers.clear(remaining)

    def test_each_generation_has_its_own_timer(self, timers: Timers) -> None:
        old = message(NOON + HOUR)
        new = message(NOON + 2 * HOUR, generation=2, ref=old.ref)
        timers.set(old, NOON)
        timers.set(new, NOON + HOUR)
        timers.clear(old)
        assert set(self.wakes(timers, NOON + 2 * HOUR)) == {new}

    def test_a_late_arm_of_an_old_generation_leaves_the_new_ones_timer(self, timers: Timers) -> None:
        old = message(NOON + 2 * HOUR)
        new = message(NOON + HOUR, generation=2, ref=old.ref)
        timers.set(new, NOON)
        timers.set(old, NOON + HOUR)
        assert set(self.wakes(timers, NOON + MINUTE)) == {new}

    def test_a_cleared_timer_does_not_wake(self, timers: Timers) -> None:
        wake = message()
        timers.set(wake, NOON)
        timers.clear(wake)
        assert list(self.wakes(timers, NOON + HOUR)) == []

    def test_clearing_an_unset_timer_changes_nothing(self, timers: Timers) -> None:
        timers.clear(message())
        timers.clear(message(ref=ActionRef(GLOBEX, new_action_id(NOON))))

    def test_a_cleared_timer_may_be_set_once_more(self, timers: Timers) -> None:
        wake = message()
        timers.set(wake, NOON)
        timers.clear(wake)
        timers.set(wake, NOON + HOUR)
        assert set(self.wakes(timers, NOON + HOUR + MINUTE)) == {wake}


BILLING = Manifest("default", {"apply-plan-change": 1, "send-invoice": 2})
REPORTS = Manifest("reports", {"make-report": 1})


class RoutesContract:
    """Which worker runs a type."""

    @abstractmethod
    def routes(self, manifests: Sequence[Manifest]) -> Routes:
        """Routes over those published manifests and no others."""

    def test_a_type_leads_to_the_worker_that_published_it(self) -> None:
        routes = self.routes([BILLING, REPORTS])
        found = [routes.queue_for(name) for name in ("apply-plan-change", "send-invoice", "make-report")]
        assert found == ["default", "default", "reports"]

    @pytest.mark.parametrize("name", ["os.system", "apply-plan", "apply-plan-change ", "", "default"])
    def test_a_type_that_no_manifest_has_leads_nowhere(self, name: str) -> None:
        assert self.routes([BILLING, REPORTS]).queue_for(name) is None

    def test_without_manifests_nothing_leads_anywhere(self) -> None:
        assert self.routes([]).queue_for("apply-plan-change") is None

    def test_a_type_that_moves_leads_to_one_of_its_workers(self) -> None:
        assert self.routes([BILLING, Manifest("reports", {"send-invoice": 2})]).queue_for("send-invoice") in {
            "default",
            "reports",
        }

    def test_a_type_leads_to_the_worker_that_reads_its_newest_version(self) -> None:
        for version, worker in ((1, "default"), (3, "reports")):
            other = Manifest("reports", {"send-invoice": version})
            assert self.routes([BILLING, other]).queue_for("send-invoice") == worker
            assert self.routes([other, BILLING]).queue_for("send-invoice") == worker

    def test_high_actions_lead_to_the_high_queue_of_a_worker_that_has_one(self) -> None:
        high = replace(BILLING, high=frozenset({"send-invoice"})).deployed(high_priority=False)
        routes = self.routes([high, REPORTS])
        types = ("send-invoice", "apply-plan-change", "make-report", "os.system")
        found = [[routes.queue_of(name, is_high=is_high) for name in types] for is_high in (False, True)]
        assert found == [
            ["default_high", "default", "reports", None],
            ["default_high", "default_high", "reports", None],
        ]
        assert routes.queue_for("send-invoice") == "default"

    def test_the_newest_version_of_each_type_is_known(self) -> None:
        routes = self.routes([BILLING, Manifest("reports", {"make-report": 1, "send-invoice": 3})])
        names = ("apply-plan-change", "send-invoice", "make-report", "os.system")
        assert [routes.version_of(name) for name in names] == [1, 3, 1, None]


class BookmarksContract:
    """Where a repeated pass left off."""

    @pytest.fixture
    def bookmarks(self) -> Bookmarks:
        raise NotImplementedError("override the fixture `bookmarks`: it returns your back end, empty")

    def test_nothing_is_marked_at_first(self, bookmarks: Bookmarks) -> None:
        assert dict(bookmarks.read("sweep")) == {}

    def test_written_marks_are_read(self, bookmarks: Bookmarks) -> None:
        marks = {"300/0": "2030-06-01T12:00:00.000000Z", "300/1": "cursor 2030 acme#1 é"}
        bookmarks.write("sweep", marks)
        assert dict(bookmarks.read("sweep")) == marks

    def test_a_write_replaces_all_that_stood(self, bookmarks: Bookmarks) -> None:
        bookmarks.write("sweep", {"300/0": "a", "300/1": "b"})
        bookmarks.write("sweep", {"300/1": "c"})
        assert dict(bookmarks.read("sweep")) == {"300/1": "c"}

    def test_all_marks_may_be_taken_away(self, bookmarks: Bookmarks) -> None:
        bookmarks.write("sweep", {"300/0": "a"})
        bookmarks.write("sweep", {})
        assert dict(bookmarks.read("sweep")) == {}

    def test_each_name_has_its_own_marks(self, bookmarks: Bookmarks) -> None:
        bookmarks.write("sweep", {"0": "a"})
        bookmarks.write("catch-up", {"0": "b"})
        assert (dict(bookmarks.read("sweep")), dict(bookmarks.read("catch-up"))) == ({"0": "a"}, {"0": "b"})

    def test_a_mark_for_each_band_and_shard_fits(self, bookmarks: Bookmarks) -> None:
        marks = {f"{band}/{shard}": "cursor " + "x" * 150 for band in range(7) for shard in range(256)}
        bookmarks.write("sweep", marks)
        assert dict(bookmarks.read("sweep")) == marks

    def test_a_later_change_of_the_argument_is_not_stored(self, bookmarks: Bookmarks) -> None:
        marks = {"0": "a"}
        bookmarks.write("sweep", marks)
        marks["0"] = "b"
        assert dict(bookmarks.read("sweep")) == {"0": "a"}
