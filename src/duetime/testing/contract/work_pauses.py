"""Pauses of tenants' work: each is begun once, ended once, and changes no other."""
# ruff: noqa: D102, S101 - a test's name is its sentence

from __future__ import annotations

from dataclasses import replace

import pytest

from duetime.ids import new_action_id
from duetime.model.work_pause import PauseScope, WorkPause
from duetime.ports.work_pauses import WorkPauses
from duetime.testing.contract.specimens import CALLER, HOUR, NOON, SECOND


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

    def test_a_pause_that_was_never_begun_cannot_be_ended(self, pauses: WorkPauses) -> None:
        pauses.end(work_pause().ended(by="ada", at=NOON))
        assert list(pauses.list()) == []
