"""The interface to pauses of work, written as a specification."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from duetime.errors import Unsupported
from duetime.model.breaker import FailureCount

if TYPE_CHECKING:
    from duetime.ids import TenantId
    from duetime.model.work_pause import WorkPause


class WorkPauses(Protocol):
    """The pauses of work. Pauses are begun and ended; of them, only an open breaker's state changes."""

    def list(self) -> Sequence[WorkPause]:
        """Return all stored pauses by a consistent read, the oldest first.

        A pause is stored for a day after its end and its spread. An unreadable one is left out.

        Raises:
            BackendUnavailable: they cannot be read.
        """

    def begin(self, pause: WorkPause) -> None:
        """Store a pause beside the others. An existing pause stays as it is: a repeat is safe."""

    def end(self, pause: WorkPause) -> None:
        """Store the end of a pause. An ended pause stays as it is."""

    def replace(self, old: WorkPause, new: WorkPause) -> bool:
        """Replace the state of an open breaker, or end it.

        False if it has ended, or if its state is not as in `old`. A repeat after a lost response returns
        True.
        """

    def failures(self, tenant_id: TenantId, type_name: str) -> FailureCount:
        """Return the recent failures of a tenant's type by a consistent read; an empty count without any.

        Raises:
            BackendUnavailable: they cannot be read.
        """

    def count_failure(self, new: FailureCount, opened: WorkPause | None) -> bool:
        """Store a count, and begin the pause of the breaker that it opens, both or none.

        False if the stored count is not the one before `new` by its revision. It is removed a day after its
        last write.
        """


class NoWorkPauses:
    """No work is ever paused."""

    def list(self) -> Sequence[WorkPause]:
        """Return none."""
        return ()

    def begin(self, pause: WorkPause) -> None:
        """Raise `Unsupported`, since the pause would not hold."""
        raise Unsupported(
            f"this back end stores no pauses, so {pause.name!r} cannot be paused or resumed;"
            " pass pauses=WorkPauses, such as duetime.memory's or duetime.aws's"
        )

    end = begin

    def replace(self, old: WorkPause, new: WorkPause) -> bool:
        """Replace none."""
        del old, new
        return False

    def failures(self, tenant_id: TenantId, type_name: str) -> FailureCount:
        """Return no failures."""
        return FailureCount(tenant_id=tenant_id, type=type_name)

    def count_failure(self, new: FailureCount, opened: WorkPause | None) -> bool:
        """Count nothing: no breaker opens."""
        del new, opened
        return True
