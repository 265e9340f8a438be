"""Complete, fail and keep alive handed-over actions, by their tokens.

The row is read first, to check the token and to compute the settlement. Then one conditional write under the
token's fence decides: a second completion, a late one, and one of a run that was taken over change nothing.
The table's stream then frees what the run held, as `duetime.wakeups.follow` describes.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from datetime import timedelta
from typing import Any, assert_never

from duetime import instant
from duetime.clock import Clock
from duetime.errors import (
    BackendUnavailable,
    HandOverEnded,
    InvalidArgument,
    NotFound,
    StateConflict,
    UnreadableRow,
    truncate,
)
from duetime.ids import TenantId
from duetime.jobs.change_with_retry import CHANGED, Conflict, retry_on_conflict
from duetime.jobs.end_hand_over import EndHandOver
from duetime.jobs.trusted_reading import KnownRegion
from duetime.model.action import Action, ActionRef, Ending, Status
from duetime.model.decision import Decision, approver_not_allowed
from duetime.model.hand_over import (
    Beat,
    checked_result,
    not_handed_over,
    unknown_token,
)
from duetime.model.hand_over_token import Token, key_of, token_of
from duetime.model.lease import SettleResult
from duetime.model.outcome import SUCCEEDED, Outcome
from duetime.model.row_parts import Progress
from duetime.ports.action_store import ActionStore
from duetime.ports.actions import DamagedRow
from duetime.ports.job_store import JobStore
from duetime.retry import NEVER, RetryPolicy
from duetime.settings import Settings

LONGEST_RETRY = timedelta(days=366)

_LATER_RUN = "a later run has begun, which has a token of its own"


class HandOvers:
    """The handed-over actions of some tenants, or of all."""

    def __init__(
        self,
        store: ActionStore,
        jobs: Callable[[], JobStore] | None,
        *,
        clock: Clock,
        settings: Settings,
        tenants: Collection[TenantId] | None,
        region: KnownRegion,
        jitter_draw: Callable[[], float],
    ) -> None:
        """Use the back ends.

        Args:
            store: the rows.
            jobs: loads the store of jobs, which holds their locks; None if there are no jobs.
            clock: the source of the present time.
            settings: the deployment's settings.
            tenants: whose tokens are accepted; None: all, as the token alone decides.
            region: the active region, which alone writes; the standby reads rows that may be outdated.
            jitter_draw: draws the jitter of a retry, in [0, 1).
        """
        self._store, self._clock = store, clock
        self._settle = EndHandOver(store, jobs, settings=settings)
        self._tenants, self._region, self._jitter_draw = tenants, region, jitter_draw

    def complete(self, token: str, result: Any = None) -> Action:
        """Settle as executed; see `Scheduler.complete`."""
        written = checked_result(result)
        return self._end(self._parsed(token), lambda _row: (SUCCEEDED, NEVER), written)

    def fail(self, token: str, reason: str, retry: bool | timedelta = True) -> Action:
        """Settle as after a failed attempt; see `Scheduler.fail`."""
        outcome = _failure(reason, retry)

        def ended(row: Action) -> tuple[Outcome, RetryPolicy]:
            if row.cancel_request is not None:
                return Outcome(Ending.CANCELLED, outcome.message), NEVER
            return outcome, RetryPolicy.parse(row.retry or NEVER.text())

        return self._end(self._parsed(token), ended, None)

    def decide(self, ref: ActionRef, decision: Decision) -> Action:
        """End an approval by a decision; see `Scheduler.approve` and `Scheduler.reject`."""
        row = self._row(ref)
        if row is None:
            raise NotFound("action", ref.id)
        waiting = row.hand_over
        if waiting is None or waiting.question is None:
            problem = f"it is {row.status.value}, and only one that waits for an approval can be"
            raise StateConflict(f"cannot {decision.verb} action {ref.id}", problem, code="action-conflict")
        token = Token.parse(token_of(row))
        if not row.awaits_approval:
            is_running = row.status is Status.PROCESSING
            raise HandOverEnded(row.id, row.status, _LATER_RUN if is_running else _reason(row, token))
        if waiting.needs_another_approver and decision.is_approved and not decision.is_by_another:
            raise approver_not_allowed(row.id, "approve it over the API, which verifies who calls")
        terms = waiting.decision_terms
        outcome, result = decision.outcome(terms), decision.result(terms)
        return self._end(token, lambda _row: (outcome, NEVER), result, is_decision=True)

    def heartbeat(self, token: str, progress: Progress | None = None) -> Beat:
        """Keep a hand-over alive; see `Scheduler.heartbeat`."""
        parsed = self._parsed(token)
        row = self._open_row(parsed)
        now = self._clock.now()
        until = row.hand_over.waits_until(now) if row.hand_over else now
        found = self._store.beat(row, until, now=now, progress=progress)
        if found is None:
            raise self._why_ended(parsed)
        return Beat(found.cancel_requested, until)

    def owner(self, token: str) -> Action:
        """Return the action of a token, whether it can still be ended or not.

        Raises:
            NotFound: no hand-over of these tenants has this token.
        """
        return self._named(self._parsed(token))

    def _end(
        self,
        token: Token,
        ended: Callable[[Action], tuple[Outcome, RetryPolicy]],
        result: str | None,
        *,
        is_decision: bool = False,
    ) -> Action:
        def attempt() -> Action | Conflict:
            row = self._open_row(token, is_decision=is_decision)
            outcome, policy = ended(row)
            settled = self._settle(
                row,
                outcome,
                policy,
                now=self._clock.now(),
                result=result,
                jitter_draw=self._jitter_draw(),
            )
            match settled:
                case SettleResult.SETTLED:
                    return self._row(token.ref) or row
                case SettleResult.CANCEL_REQUESTED:
                    return CHANGED
                case SettleResult.LEASE_LOST:
                    raise self._why_ended(token)
                case unknown:
                    assert_never(unknown)

        outcome = retry_on_conflict(attempt)
        if isinstance(outcome, Conflict):
            raise BackendUnavailable("the actions table", "the action kept changing")
        return outcome

    def _parsed(self, token: str) -> Token:
        parsed = Token.parse(token)
        if self._tenants is not None and parsed.ref.tenant_id not in self._tenants:
            raise unknown_token("it is of another tenant")
        return parsed

    def _row(self, ref: ActionRef) -> Action | None:
        """Return a row without its payload.

        Raises:
            UnreadableRow: it is damaged.
        """
        damaged: list[DamagedRow] = []
        row = next(iter(self._store.get_rows([ref], damaged=damaged)), None)
        for found in damaged:
            raise UnreadableRow([found.ref.tenant_id, found.ref.id], ValueError(found.reason))
        return row

    def _open_row(self, token: Token, *, is_decision: bool = False) -> Action:
        """Return the row of a token by which it can be ended now.

        Raises:
            NotFound, StateConflict, HandOverEnded: it cannot.
            InvalidArgument: it waits for an approval, which a decision ends, and no token.
        """
        self._region.require_active()
        row = self._named(token)
        is_its_run = row.status is Status.PROCESSING and row.fence == token.fence
        if is_its_run and not row.is_handed_over:
            raise not_handed_over(row.id)
        if not is_its_run or row.lease_until is None or self._clock.now() >= row.lease_until:
            raise HandOverEnded(row.id, row.status, _reason(row, token))
        if row.awaits_approval and not is_decision:
            raise InvalidArgument(
                f"{row.id} waits for an approval, which no token ends; call Scheduler.approve or reject",
                field="token",
            )
        return row

    def _named(self, token: Token) -> Action:
        row = self._row(token.ref)
        if row is None or not token.is_made_with(key_of(row)):
            raise unknown_token()
        return row

    def _why_ended(self, token: Token) -> HandOverEnded | NotFound:
        """Return the error of a token that has lost a race."""
        row = self._row(token.ref)
        return unknown_token() if row is None else HandOverEnded(row.id, row.status, _reason(row, token))


def _reason(row: Action, token: Token) -> str:
    last = row.hand_over
    if row.fence != token.fence:
        return _LATER_RUN
    if row.status is not Status.PROCESSING:
        ended_at = row.attempts[-1].finished_at
        was_handed_over = last is not None and last.fence == token.fence
        subject = "it was ended" if was_handed_over else "its run ended without a hand-over"
        message = row.attempts[-1].message
        decision = f", {message}" if last is not None and last.question and message else ""
        return f"{subject} at {instant.text(ended_at)}{decision}" if ended_at else subject
    if last is None or row.lease_until == last.times_out_at:
        return "its time-out has passed"
    return "its heartbeat was missed"


def _failure(reason: object, retry: object) -> Outcome:
    if not isinstance(reason, str) or not reason.strip():
        raise InvalidArgument(
            f"reason is {truncate(repr(reason), 60)}; allowed is a text that is not empty", field="reason"
        )
    after = retry if isinstance(retry, timedelta) else None
    if not (isinstance(retry, bool) or (after is not None and timedelta(0) <= after <= LONGEST_RETRY)):
        raise InvalidArgument(
            f"retry is {truncate(repr(retry), 60)}; allowed is True (by the policy), False, or a timedelta"
            f" up to {LONGEST_RETRY.days} days",
            field="retry",
        )
    ending = Ending.FAILED if after is None else Ending.RETRY
    return Outcome(ending, truncate(reason.strip()), may_retry=retry is not False, retry_after=after)
