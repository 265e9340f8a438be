"""Pauses of tenants' work: each is begun once, ended once, and changes no other."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from duetime.ids import ActionId, new_action_id
from duetime.model.breaker import Breaker, FailureCount, begins_probe
from duetime.model.work_pause import BreakerState, PauseScope, WorkPause
from duetime.ports.work_pauses import WorkPauses
from duetime_contract.specimens import ACME, CALLER, GLOBEX, HOUR, NOON, SECOND

BREAKER = Breaker(failures=3, within="1m", open_for="5m")


def work_pause(name: str = "acme", after: int = 0, **more: object) -> WorkPause:
    """Return a pause that is not stored."""
    since = NOON + after * SECOND
    pause = WorkPause(
        id=new_action_id(since),
        scope=PauseScope.TENANT,
        name=name,
        reason="a loop in its é scripts",
        by=CALLER,
        since=since,
    )
    return replace(pause, **more)  # type: ignore[arg-type]


class WorkPausesContract:
    """The whole contract of `duetime.ports.work_pauses.WorkPauses`: override the fixture `pauses`."""

    @pytest.fixture
    def pauses(self) -> WorkPauses:
        raise NotImplementedError("override this fixture with an empty back end")

    def test_without_a_pause_the_list_is_empty(self, pauses: WorkPauses) -> None:
        assert list(pauses.list()) == []

    def test_a_second_pause_stands_beside_the_first(self, pauses: WorkPauses) -> None:
        first, second = work_pause(), work_pause(after=1, reason="an unpaid bill", until=NOON + HOUR)
        other = work_pause("globex", after=2)
        for pause in (second, other, first):
            pauses.begin(pause)
        assert list(pauses.list()) == [first, second, other]

    def test_a_repeat_changes_nothing(self, pauses: WorkPauses) -> None:
        pause = work_pause()
        ended = pause.ended(by="ada", at=NOON + HOUR)
        pauses.begin(pause)
        pauses.begin(replace(pause, reason="another"))
        assert list(pauses.list()) == [pause]
        pauses.end(ended)
        pauses.end(pause.ended(by="bob", at=NOON + 2 * HOUR))
        pauses.begin(pause)
        assert list(pauses.list()) == [ended]

    def test_scopes_spreads_and_owners_are_read_as_written(self, pauses: WorkPauses) -> None:
        begun = [
            work_pause("send-receipt", scope=PauseScope.TYPE, spread=HOUR, skips=True),
            work_pause("a#key#é", 1, scope=PauseScope.CONCURRENCY_KEY, tenant_id=ACME, is_operators=False),
            work_pause("smtp", 2, scope=PauseScope.RATE_KEY, spread=timedelta(0)),
            work_pause("mailer", 3, scope=PauseScope.WORKER, until=NOON + HOUR),
        ]
        for pause in begun:
            pauses.begin(pause)
        assert list(pauses.list()) == begun

    def test_an_open_breaker_is_read_as_written(self, pauses: WorkPauses) -> None:
        state = BreakerState(
            open_for=HOUR, probes_at=NOON + HOUR, probe=ActionId("a"), probe_until=NOON + 2 * HOUR, revision=3
        )
        begun = work_pause("send-receipt", scope=PauseScope.TYPE, tenant_id=ACME, breaker=state)
        pauses.begin(begun)
        assert list(pauses.list()) == [begun]

    def test_of_two_probes_of_a_breaker_one_is_written(self, pauses: WorkPauses) -> None:
        begun = work_pause(scope=PauseScope.TYPE, breaker=BreakerState(open_for=HOUR, probes_at=NOON))
        pauses.begin(begun)
        first, second = (begins_probe(begun, ActionId(name), NOON, NOON + HOUR) for name in "ab")
        assert first is not None
        assert second is not None
        assert pauses.replace(begun, first)
        assert pauses.replace(begun, first), "its response was lost"
        assert not pauses.replace(begun, second)
        ahead = replace(begun, breaker=BreakerState(open_for=HOUR, probes_at=NOON, revision=7))
        assert not pauses.replace(ahead, second)
        assert list(pauses.list()) == [first]

    def test_a_breaker_that_a_caller_has_closed_is_not_probed(self, pauses: WorkPauses) -> None:
        begun = work_pause(scope=PauseScope.TYPE, breaker=BreakerState(open_for=HOUR, probes_at=NOON))
        probing = begins_probe(begun, ActionId("a"), NOON, NOON + HOUR)
        assert probing is not None
        assert not pauses.replace(begun, probing), "it was never begun"
        pauses.begin(begun)
        ended = begun.ended(by="ada", at=NOON)
        pauses.end(ended)
        assert not pauses.replace(begun, probing)
        assert list(pauses.list()) == [ended]

    def test_a_probe_that_succeeds_ends_the_pause(self, pauses: WorkPauses) -> None:
        begun = work_pause(scope=PauseScope.TYPE, breaker=BreakerState(open_for=HOUR, probes_at=NOON))
        pauses.begin(begun)
        ended = begun.ended(by="duetime", at=NOON + HOUR)
        assert pauses.replace(begun, ended)
        assert pauses.replace(begun, ended)
        assert list(pauses.list()) == [ended]

    def test_failures_are_counted_by_revision(self, pauses: WorkPauses) -> None:
        none = pauses.failures(ACME, "send-receipt")
        assert none == FailureCount(tenant_id=ACME, type="send-receipt")
        first = none.failed(BREAKER, NOON, "a")
        assert pauses.count_failure(first, None)
        assert pauses.count_failure(first, None), "its response was lost"
        assert not pauses.count_failure(none.failed(BREAKER, NOON, "b"), None), "another counted first"
        second = pauses.failures(ACME, "send-receipt").failed(BREAKER, NOON + SECOND, "c")
        assert pauses.count_failure(second, None)
        assert pauses.failures(ACME, "send-receipt") == second
        assert second.failed_at == (NOON, NOON + SECOND)
        for revision in (2, 9):  # of a read before the last count, and of one before its item expired
            stale = replace(second, revision=revision, nonce="d")
            assert not pauses.count_failure(stale, None), "another counted since its read"
        assert pauses.failures(ACME, "send-receipt") == second
        assert pauses.failures(GLOBEX, "send-receipt").failed_at == ()
        assert list(pauses.list()) == []

    def test_a_count_and_the_pause_that_it_begins_are_written_both_or_none(self, pauses: WorkPauses) -> None:
        none = pauses.failures(ACME, "send-receipt")
        count, another = none.failed(BREAKER, NOON, "a"), none.failed(BREAKER, NOON, "b")
        opened, other = work_pause("send-receipt", scope=PauseScope.TYPE), work_pause(after=1)
        assert pauses.count_failure(count.opened(), opened)
        assert pauses.count_failure(count.opened(), opened), "its response was lost"
        assert not pauses.count_failure(another.opened(), other)
        assert list(pauses.list()) == [opened]
        assert pauses.failures(ACME, "send-receipt").failed_at == ()

    def test_a_pause_that_was_never_begun_cannot_be_ended(self, pauses: WorkPauses) -> None:
        pauses.end(work_pause().ended(by="ada", at=NOON))
        assert list(pauses.list()) == []
