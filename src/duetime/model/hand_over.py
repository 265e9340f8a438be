"""The hand-over: a run ends, and an external party that has its token completes the action. Facts only.

::

    handler ── return run.hand_over(…) ──> processing, without a worker ──complete, fail──> as after a run
                                             │    ^
                                             └────┘ heartbeat

The lease of the row is the hand-over's: it ends with the next heartbeat that is due, or with the time-out.
`duetime.model.hand_over_token` makes and reads its tokens.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from math import ceil
from typing import Any, Literal, get_args

from duetime._masking import without_tokens
from duetime.errors import InvalidArgument, NotFound, StateConflict, truncate
from duetime.model.action import Action
from duetime.model.json_value import JSON_LIMIT, json_text
from duetime.model.row_parts import HandOver, Progress

SHORTEST, LONGEST = timedelta(seconds=10), timedelta(days=366)
"""The bounds of a time-out and of a heartbeat."""

LONGEST_WITH_KEY = timedelta(hours=48)
"""The longest time-out under a concurrency key, whose slots expire 60 hours after the latest take."""

NOTE_LIMIT = 200
"""Characters of a progress note."""

RESULT_LIMIT = JSON_LIMIT
"""Bytes of a result, as JSON."""

QUESTION_LIMIT = 500
"""Characters of the question of an approval."""

OnReject = Literal["fail", "execute"]
"""What a rejection does: fail the action, without a retry; or execute it, with the decision as its result."""


@dataclass(frozen=True, slots=True)
class Approval:
    """The question of an approval, what a rejection does, and who may approve.

    Raises:
        InvalidArgument: the question is empty, too long or not printable, or `on_reject` is unknown.
    """

    question: str
    on_reject: OnReject = "fail"
    by_another: bool = False

    @property
    def terms(self) -> str | None:
        """The words of `duetime.model.row_parts.HandOver.decision_terms`."""
        words = ("execute", self.on_reject == "execute"), ("another", self.by_another)
        return " ".join(word for word, applies in words if applies) or None

    def __post_init__(self) -> None:
        question: object = self.question
        if not isinstance(question, str) or not is_line(question, QUESTION_LIMIT):
            raise InvalidArgument(
                f"question is {truncate(repr(question), 60)}; allowed are 1 to {QUESTION_LIMIT} printable"
                " characters",
                field="question",
            )
        object.__setattr__(self, "question", truncate(question, QUESTION_LIMIT))
        if self.on_reject not in get_args(OnReject):
            raise InvalidArgument(
                f"on_reject is {truncate(repr(self.on_reject), 60)}; allowed are fail and execute",
                field="on_reject",
            )
        if not isinstance(self.by_another, bool):
            raise InvalidArgument(
                f"by_another is {truncate(repr(self.by_another), 60)}; allowed are True and False",
                field="by_another",
            )


@dataclass(frozen=True, slots=True)
class HandedOver:
    """What a handler returns to hand its action over; see `Run.hand_over` and `Run.await_approval`."""

    timeout: timedelta
    heartbeat: timedelta | None = None
    approval: Approval | None = None
    """The question that people decide; None: the party that has the token ends it."""

    def __post_init__(self) -> None:
        _check_span("timeout", self.timeout)
        if self.heartbeat is not None:
            _check_span("heartbeat", self.heartbeat)
        if self.heartbeat is not None and self.heartbeat > self.timeout:
            raise InvalidArgument(
                f"heartbeat is {self.heartbeat}, longer than the timeout of {self.timeout}; allowed is at"
                " most the timeout",
                field="heartbeat",
            )

    def by(self, claimed: Action, now: datetime) -> HandOver:
        """Return the hand-over of a run that ends now. All hand-overs of an action have one key."""
        former, approval = claimed.hand_over, self.approval
        return HandOver(
            fence=claimed.fence,
            at=now,
            times_out_at=now + self.timeout,
            key=former.key if former else claimed.nonce or "",
            beat_seconds=0 if self.heartbeat is None else ceil(self.heartbeat.total_seconds()),
            question=None if approval is None else approval.question,
            decision_terms=None if approval is None else approval.terms,
        )


def is_line(text: str, limit: int) -> bool:
    """Return whether a text is one printable line that is not empty, of at most so many characters."""
    return bool(text.strip()) and len(text) <= limit and text.isprintable()


def _check_span(name: str, span: object) -> None:
    allowed = f"allowed is a timedelta from {SHORTEST} to {LONGEST}"
    if not isinstance(span, timedelta):
        raise InvalidArgument(f"{name} is {truncate(repr(span), 60)}; {allowed}", field=name)
    if not SHORTEST <= span <= LONGEST:
        raise InvalidArgument(f"{name} is {span}; {allowed}", field=name)


def checked_progress(share: object, note: object) -> Progress:
    """Return what a run or a party reports, with a note without secrets.

    Raises:
        InvalidArgument: the share is no number from 0 to 1, or the note is no text of 200 characters.
    """
    if isinstance(share, bool) or not isinstance(share, int | float) or not 0 <= share <= 1:
        raise InvalidArgument(
            f"progress is {truncate(repr(share), 60)}; allowed is a number from 0 to 1", field="progress"
        )
    if not isinstance(note, str) or len(note) > NOTE_LIMIT or not note.isprintable():
        raise InvalidArgument(
            f"note is {truncate(repr(note), 60)}; allowed are up to {NOTE_LIMIT} printable characters",
            field="note",
        )
    return Progress(round(float(share), 4), truncate(note, NOTE_LIMIT))


def progress_of(share: float | None, note: str) -> Progress | None:
    """Return the progress of a heartbeat; None if it has none.

    Raises:
        InvalidArgument: see `checked_progress`; or there is a note alone.
    """
    if share is not None:
        return checked_progress(share, note)
    if note:
        raise InvalidArgument(
            f"note is {truncate(repr(note), 60)} without a progress; pass progress too, a number from 0 to 1",
            field="note",
        )
    return None


@dataclass(frozen=True, slots=True)
class Beat:
    """The answer to a heartbeat."""

    cancel_requested: bool
    """Whether the external party should stop, then call `fail`."""
    waits_until: datetime
    """When the next heartbeat must have come, or the time-out."""


def has_timed_out(claimed: Action) -> bool:
    """Return whether a claim took an action over whose hand-over reached its time-out."""
    before = claimed.attempts[-2] if len(claimed.attempts) > 1 else None
    last = claimed.hand_over
    if before is None or before.finished_at is not None or last is None:
        return False
    return last.at >= before.started_at and last.times_out_at <= claimed.attempts[-1].started_at


def checked_result(result: Any) -> str | None:
    """Return a result as JSON, None for none. Tokens of hand-overs in it are masked: many may read it.

    Raises:
        InvalidArgument: JSON cannot carry it, or it is larger than 2 KB.
    """
    if result is None:
        return None
    try:
        return without_tokens(json_text(result))
    except InvalidArgument as error:
        raise InvalidArgument(f"result {error}", field="result") from None


def unknown_token(
    problem: str = "it is altered, or its run handed nothing over",
) -> NotFound:
    """Return the error of a token that no hand-over of a reachable tenant has; nothing was written.

    The row of a run that ended without a hand-over stores no key, so such a token is not recognised either.
    """
    hint = f" with this token: {problem}; pass the token as run.token returned it"
    return NotFound("hand-over", None, hint)


def not_handed_over(action_id: str) -> StateConflict:
    """Return the error of a handler that has not returned its hand-over yet; the caller may call again."""
    what = f"the handler of {action_id} has not handed it over yet"
    return StateConflict(what, "call again in a second", code="not-handed-over")
