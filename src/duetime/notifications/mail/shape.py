"""The rows, commands and console page of each kind of mail. The languages provide the words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from duetime.model.notification import NotificationKind


@dataclass(frozen=True, slots=True, kw_only=True)
class MailShape:
    """The shape of one kind of mail, for a single notification or for a digest."""

    rows: tuple[str, ...]
    """The variables shown, each with its label, in this order."""
    facts: Mapping[str, str] = field(default_factory=dict)
    """The fact behind a variable, where its name differs."""
    steps: Mapping[str, str]
    """The next steps: a command for each word."""
    page: str
    """The page of the console."""
    named_by: str | None = None
    """The fact at the end of commands and pages; `None` for a digest."""

    @property
    def variables(self) -> frozenset[str]:
        """The variables that the words of this kind may use."""
        return frozenset({*self.rows, "tenant"})

    @property
    def data_names(self) -> frozenset[str]:
        """The names of all data that a mail of this kind carries."""
        texts = {*self.variables, *self.steps, "subject", "address", "kind", "link", "note"}
        return frozenset(texts | {f"{name}_html" for name in texts})


_ACTION_FACTS = {"due": "nominal_at", "attempts": "attempt"}
_ACTION_STEPS = {"look": "duetime actions show", "redo": "duetime dead-letters redrive"}
_JOB_FACTS = {
    "job": "name",
    "reason": "last_error",
    "failures": "consecutive_failures",
    "threshold": "failure_threshold",
}
_JOB_STEPS = {"look": "duetime jobs show", "runs": "duetime jobs history"}
_LATE = MailShape(
    rows=("tenant", "job", "reason", "due", "until", "when"),
    facts={"job": "name", "due": "nominal_at", "until": "deadline_at"},
    steps=_JOB_STEPS,
    page="jobs",
    named_by="name",
)
_DIGEST_ROWS = ("tenant", "total", "since", "until", "names")
_DIGEST_FACTS = {"names": "by_name"}

_SINGLE: Mapping[NotificationKind, MailShape] = {
    NotificationKind.ACTION_FAILED: MailShape(
        rows=("tenant", "type", "reason", "attempts", "due", "when", "correlation_id", "id"),
        facts=_ACTION_FACTS,
        steps=_ACTION_STEPS,
        page="actions",
        named_by="id",
    ),
    NotificationKind.DEAD_LETTERED: MailShape(
        rows=("tenant", "type", "job", "reason", "attempts", "due", "when", "correlation_id", "id"),
        facts=_ACTION_FACTS,
        steps=_ACTION_STEPS,
        page="actions",
        named_by="id",
    ),
    NotificationKind.UNDELIVERED: MailShape(
        rows=("what", "source", "reason", "count", "action", "action_tenant", "when", "id"),
        facts={"what": "kind", "action_tenant": "action_tenant_id"},
        steps={"look": "duetime undelivered list", "redo": "duetime undelivered redrive"},
        page="undelivered",
        named_by="id",
    ),
    NotificationKind.BREAKER_OPENED: MailShape(
        rows=("tenant", "type", "reason", "when"),
        facts={"type": "name"},
        steps={"look": "duetime actions list --type", "redo": "duetime actions resume --type"},
        page="pauses",
        named_by="name",
    ),
    NotificationKind.APPROVAL_REQUESTED: MailShape(
        rows=("tenant", "question", "type", "job", "until", "when", "correlation_id", "id"),
        facts={"until": "times_out_at"},
        steps={
            "look": "duetime actions show",
            "approve": "duetime actions approve",
            "reject": "duetime actions reject --reason REASON",
        },
        page="actions",
        named_by="id",
    ),
    NotificationKind.RECURRING_FAILING: MailShape(
        rows=("tenant", "job", "reason", "failures", "threshold", "last_id", "when"),
        facts=_JOB_FACTS,
        steps={"look": "duetime jobs show", "runs": "duetime jobs history"},
        page="jobs",
        named_by="name",
    ),
    NotificationKind.RECURRING_SUCCEEDING: MailShape(
        rows=("tenant", "job", "last_id", "when"),
        facts=_JOB_FACTS,
        steps={"look": "duetime jobs show"},
        page="jobs",
        named_by="name",
    ),
    NotificationKind.CHAIN_REFUSED: MailShape(
        rows=("tenant", "job", "reason", "when", "id"),
        steps={"look": "duetime jobs show", "runs": "duetime jobs history"},
        page="jobs",
        named_by="job",
    ),
    NotificationKind.DEADLINE_MISSED: _LATE,
    NotificationKind.DEADLINE_AT_RISK: _LATE,
    NotificationKind.SILENT: MailShape(
        rows=("tenant", "job", "since", "until", "when"),
        facts={"job": "name", "since": "silent_since", "until": "deadline_at"},
        steps=_JOB_STEPS,
        page="jobs",
        named_by="name",
    ),
}


def _digest(command: str, page: str) -> MailShape:
    return MailShape(rows=_DIGEST_ROWS, facts=_DIGEST_FACTS, steps={"look": command}, page=page)


_DIGESTS: Mapping[NotificationKind, MailShape] = {
    NotificationKind.ACTION_FAILED: _digest("duetime dead-letters list", "dead-letters"),
    NotificationKind.DEAD_LETTERED: _digest("duetime dead-letters list", "dead-letters"),
    NotificationKind.UNDELIVERED: _digest("duetime undelivered list", "undelivered"),
    NotificationKind.BREAKER_OPENED: _digest("duetime actions pauses", "pauses"),
    NotificationKind.APPROVAL_REQUESTED: _digest("duetime actions list --status processing", "actions"),
    NotificationKind.RECURRING_FAILING: _digest("duetime jobs list", "jobs"),
    NotificationKind.RECURRING_SUCCEEDING: _digest("duetime jobs list", "jobs"),
    NotificationKind.CHAIN_REFUSED: _digest("duetime jobs list", "jobs"),
    NotificationKind.DEADLINE_MISSED: _digest("duetime jobs list", "jobs"),
    NotificationKind.DEADLINE_AT_RISK: _digest("duetime jobs list", "jobs"),
    NotificationKind.SILENT: _digest("duetime jobs list", "jobs"),
}


def shape(kind: NotificationKind, *, is_digest: bool) -> MailShape:
    """Return the shape of a kind of mail."""
    return (_DIGESTS if is_digest else _SINGLE)[kind]


def every() -> Iterator[tuple[NotificationKind, bool]]:
    """Yield every kind with False (a single notification) and True (a digest)."""
    for kind in NotificationKind:
        yield kind, False
        yield kind, True


def path(kind: NotificationKind, *, is_digest: bool) -> str:
    """Return the section of a language's file that holds a kind's own words."""
    return f"{kind}.digest" if is_digest else str(kind)
