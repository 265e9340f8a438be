"""The contract of pauses of tenants, over each back end; what a process knows of them, and their events."""

from datetime import timedelta

import pytest

from duetime.aws.keyed_items import DynamoItems
from duetime.errors import BackendUnavailable, DuetimeError, Unsupported
from duetime.instant import LATEST
from duetime.jobs.trusted_reading import KnownPauses
from duetime.memory.keyed_items import MemoryItems
from duetime.memory.store import MemoryStore
from duetime.model.active_region import TRUSTED
from duetime.model.lifecycle import of_work_pause
from duetime.model.work_pause import Hold, PauseScope, hold_of, work_of
from duetime.ports.work_pauses import NoWorkPauses, WorkPauses, pause_change
from duetime.testing import TurnedClock
from duetime_contract.specimens import ACME, GLOBEX, HOUR, NOON, SECOND, fresh
from tests.api.deployment import Hooked, unavailable
from tests.contract.rules.work_pauses import BREAKER, WorkPausesContract, work_pause


class TestMemoryWorkPauses(WorkPausesContract):
    @pytest.fixture
    def pauses(self):
        return WorkPauses(MemoryItems())


class TestDynamoWorkPauses(WorkPausesContract):
    @pytest.fixture
    def pauses(self, jobs_table):
        return WorkPauses(DynamoItems(*jobs_table))

    def test_an_unreadable_pause_holds_until_somebody_ends_it(self, jobs_table):
        client, table = jobs_table
        pauses, work = WorkPauses(DynamoItems(client, table)), work_of(fresh(MemoryStore()), "default")
        for name, rest in {
            "a": {"tenant_id": {"S": "globex"}},
            "b": {},
            "c": {"ended_at": {"S": "?"}},
        }.items():
            key = {"pk": {"S": "system#pauses"}, "sk": {"S": f"type#{work.type}#{name}"}}
            client.put_item(TableName=table, Item={**key, "until": {"S": "soon"}, **rest})
        of_globex, of_all = pauses.list()
        assert (of_globex.tenant_id, of_globex.covers(work)) == ("globex", False)
        assert hold_of([of_all], work, NOON) == Hold(of_all, LATEST)
        ended = of_all.ended(by="ada", at=NOON)
        pauses.end(ended)
        assert list(pauses.list()) == [of_globex, ended]

    def test_scopes_of_a_later_version_are_left_out(self, jobs_table):
        client, table = jobs_table
        pauses, pause = WorkPauses(DynamoItems(client, table)), work_pause()
        pauses.begin(pause)
        key = {"pk": {"S": "system#pauses"}, "sk": {"S": "colour#blue#01983b5e"}}
        client.put_item(TableName=table, Item=key)
        assert list(pauses.list()) == [pause]

    def test_a_late_count_begins_no_pause_again_that_has_ended(self, jobs_table):
        pauses = WorkPauses(DynamoItems(*jobs_table))
        opened = work_pause("send-receipt", scope=PauseScope.TYPE)
        ended = opened.ended(by="ada", at=NOON)
        pauses.begin(opened)
        pauses.end(ended)
        count = pauses.failures(ACME, "send-receipt").failed(BREAKER, NOON, "a").opened()
        assert not pauses.count_failure(count, opened)
        assert list(pauses.list()) == [ended]

    def test_a_pause_with_an_end_expires_a_day_after_it_and_its_spread(self, jobs_table):
        client, table = jobs_table
        WorkPauses(DynamoItems(client, table)).begin(work_pause(until=NOON + HOUR))
        [item] = client.scan(TableName=table)["Items"]
        spread = timedelta(minutes=10)
        assert item["ttl"]["N"] == str(int((NOON + HOUR + spread + timedelta(days=1)).timestamp()))


class TestKnownPauses:
    @pytest.fixture
    def clock(self):
        return TurnedClock(NOON)

    @pytest.fixture
    def stored(self):
        return Hooked(WorkPauses(MemoryItems()))

    @pytest.fixture
    def known(self, stored, clock):
        return KnownPauses(stored, clock)

    def test_a_pause_holds_within_five_seconds(self, known, stored, clock):
        assert known.of_tenant(ACME) is None
        stored.begin(work_pause())
        clock.wait_until(NOON + 5 * SECOND)
        assert known.of_tenant(ACME) == work_pause(id=stored.list()[0].id)
        assert known.of_tenant(GLOBEX) is None

    def test_many_actions_within_five_seconds_cost_one_read(self, known, stored, clock):
        reads = []
        stored.hooks["list"] = lambda read: reads.append(clock.now()) or read()
        for _ in range(100):
            known.of_tenant(ACME)
            clock.wait_until(clock.now() + SECOND / 10)
        assert len(reads) == 2

    def test_a_process_that_has_read_no_pauses_knows_none_and_raises(self, known, stored):
        stored.hooks["list"] = unavailable
        for read in (lambda: known.of_tenant(ACME), known.knows_any, known.list):
            with pytest.raises(BackendUnavailable):
                read()

    def test_the_last_known_pauses_hold_for_fifteen_seconds_while_they_cannot_be_read(
        self, known, stored, clock
    ):
        stored.begin(work_pause())
        known.of_tenant(ACME)
        stored.hooks["list"] = unavailable
        clock.wait_until(NOON + TRUSTED - SECOND)
        assert known.of_tenant(ACME) is not None
        clock.wait_until(NOON + TRUSTED)
        with pytest.raises(BackendUnavailable, match="cannot read the pauses"):
            known.of_tenant(ACME)

    def test_a_process_reads_again_five_seconds_after_a_failure_and_after_its_own_change(
        self, known, stored, clock
    ):
        stored.hooks["list"] = unavailable
        with pytest.raises(BackendUnavailable):
            known.knows_any()
        del stored.hooks["list"]
        clock.wait_until(NOON + 5 * SECOND)
        assert not known.knows_any()
        known.begin(work_pause())
        assert known.knows_any()

    def test_threads_that_read_the_pauses_first_read_them_each(self, stored, clock):
        reads = []

        def read(method):
            reads.append(clock.now())
            if len(reads) == 1:
                assert not known.knows_any()  # of another thread, while this read lasts
            return method()

        known, stored.hooks["list"] = KnownPauses(stored, clock), read
        assert not known.knows_any()
        assert len(reads) == 2

    def test_the_pause_that_lasts_longest_is_the_one_that_counts(self, known, stored, clock):
        for number, until in enumerate((NOON + HOUR, NOON + 3 * HOUR, NOON + 2 * HOUR)):
            stored.begin(work_pause(after=number, until=until))
        assert known.of_tenant(ACME).until == NOON + 3 * HOUR
        clock.wait_until(NOON + 3 * HOUR)
        assert known.of_tenant(ACME) is None

    def test_resume_ends_all_pauses_of_the_tenant_alone(self, known, stored):
        events = []
        stored.backend = WorkPauses(
            MemoryItems(lambda _kind, old, new: events.extend(of_work_pause(pause_change(old, new))))
        )
        for number, name in enumerate(("acme", "acme", "globex")):
            known.begin(work_pause(name, after=number))
        mine = [pause for pause in known.list() if pause.name == ACME]
        assert len(known.end_all(mine, "ada")) == 2
        assert [pause.name for pause in known.list()] == ["globex"]
        assert [(event.type, event.tenant_id, event.by) for event in events[3:]] == [
            ("tenant.resumed", ACME, "ada")
        ] * 2


@pytest.mark.parametrize("change", [NoWorkPauses().begin, NoWorkPauses().end])
def test_a_back_end_without_pauses_rejects_one_and_names_what_to_pass(change):
    with pytest.raises(Unsupported, match=r"'acme' cannot be paused or resumed; pass pauses=") as caught:
        change(work_pause())
    assert isinstance(caught.value, DuetimeError)
