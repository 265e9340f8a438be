"""The batch: the actions of one type that a handler of many receives in one call."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from typing import Generic, NamedTuple, TypeVar

from duetime.errors import InvalidArgument, truncate
from duetime.model.action import ActionRef
from duetime.model.run import Run, already_committed
from duetime.payload import Payload

P = TypeVar("P", bound=Payload)


class BatchItem(NamedTuple, Generic[P]):
    """One action of a batch."""

    payload: P
    run: Run
    """The facts of its own attempt."""


class Batch(Generic[P]):
    """The actions of one call of a handler of many: ``for payload, run in batch.items``.

    Each action has its own outcome. It is executed when the handler returns, unless `fail` was called with
    its run. An exception of the handler fails the actions without an outcome.
    """

    def __init__(self, items: Iterable[BatchItem[P]]) -> None:
        self.items = tuple(items)
        self._refs = {_ref_of(item.run) for item in self.items}
        self._failures: dict[ActionRef, BaseException] = {}
        self._lock = threading.Lock()

    def fail(self, run: Run, error: BaseException) -> None:
        """End one run as if its handler had raised `error`; the others go on.

        Args:
            run: the run of an item.
            error: the reason; `Retry` and `Fatal` mean what they mean when a handler raises them.

        Raises:
            InvalidArgument: the run is not in this batch, has failed already, or the error is no exception.
            StateConflict: the run has committed: its action is executed.
        """
        ref = _ref_of(run)
        if not isinstance(error, BaseException):
            raise InvalidArgument(
                f"the error is {truncate(repr(error), 60)}; pass an exception, such as ValueError('no stock')"
            )
        if ref not in self._refs:
            raise InvalidArgument(
                f"the run of {run.id} is not in this batch; pass the run of one of its"
                f" {len(self.items)} items"
            )
        if run.committed is not None:
            raise already_committed(run.id)
        with self._lock:
            if ref in self._failures:
                raise InvalidArgument(
                    f"the run of {run.id} has failed already ({truncate(repr(self._failures[ref]), 60)});"
                    " a run fails once"
                )
            self._failures[ref] = error

    def failure_of(self, run: Run) -> BaseException | None:
        """Return the error with which a run failed; None if it has not."""
        return self._failures.get(_ref_of(run))


def _ref_of(run: Run) -> ActionRef:
    return ActionRef(run.tenant_id, run.id)
