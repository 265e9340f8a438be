"""The interface to pauses of work, written as a specification."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from duetime.errors import Unsupported
from duetime.model.work_pause import WorkPause


class WorkPauses(Protocol):
    """The pauses of tenants' work. Pauses are begun and ended, and never change otherwise."""

    def list(self) -> Sequence[WorkPause]:
        """Return all stored pauses by a consistent read, the oldest first.

        A pause is stored for a day after its end. An unreadable one is left out.

        Raises:
            BackendUnavailable: they cannot be read.
        """

    def begin(self, pause: WorkPause) -> None:
        """Store a pause beside the others. An existing pause stays as it is: a repeat is safe."""

    def end(self, pause: WorkPause) -> None:
        """Store the end of a pause. An ended pause stays as it is."""


class NoWorkPauses:
    """No tenant is ever paused."""

    def list(self) -> Sequence[WorkPause]:
        """Return none."""
        return ()

    def begin(self, pause: WorkPause) -> None:
        """Raise `Unsupported`, since the pause would not hold."""
        raise Unsupported(
            f"this back end stores no pauses of tenants, so {pause.name!r} cannot be paused or resumed;"
            " pass pauses=WorkPauses, such as duetime.memory's or duetime.aws's"
        )

    end = begin
