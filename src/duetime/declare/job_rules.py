"""The rules that a job's definition keeps, whoever declares it: code with a decorator, or a caller at run time. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, get_args

from duetime.errors import DeclarationError, InvalidIdentifier
from duetime.ids import EVENT_SOURCE, job_name
from duetime.model.job import Definition, Overlap, Precision

if TYPE_CHECKING:  # imported where a job is declared: an app without jobs loads no cadence
    from duetime.cadence import Cadence

RESERVED = "duetime-"
"""Names that begin so are the system's own."""

MOST_CADENCES = 20
MOST_CAUGHT_UP = 100
PAYLOAD_LIMIT = 2_048
"""Bytes: what a row carries without an item of its own; see `duetime.model.new_action.IN_ROW_LIMIT`."""

TOO_FINE = "precision is 'second', and this back end's timers honour minutes only; say precision='minute'"

_TEXT_LIMITS = {"title": 100, "category": 50, "description": 500}


def read_cadences(said: Iterable[Cadence | str], *, default_tz: str | None = None) -> tuple[Cadence, ...]:
    """The cadences that were said, as they are or as texts; ``manual`` where there is no other.

    They are sorted, so that whoever says them in another order says the same. `default_tz` becomes the zone of those of
    times that name none and have no default yet.

    Raises:
        DeclarationError: one is neither a cadence nor a text.
        InvalidCadence: a text says no cadence, or one that never fires.
    """
    from duetime.cadence.triggers import Manual, TriggerCadence, manual  # noqa: PLC0415 - see above

    def zoned(cadence: Cadence) -> Cadence:
        if default_tz is None or isinstance(cadence, TriggerCadence) or cadence.scope.default_tz:
            return cadence
        return cadence.with_default_tz(default_tz)

    read = [zoned(each) for each in map(_read, said) if not isinstance(each, Manual)]
    return tuple(sorted(read, key=str)) or (manual(),)


def _read(said: Cadence | str) -> Cadence:
    from duetime.cadence import Cadence, parse  # noqa: PLC0415 - see above

    if isinstance(said, Cadence):
        return said
    if isinstance(said, str):
        return parse(said)
    raise DeclarationError(
        f'a cadence is {said!r}; say daily("09:00") or another, or its text: "daily 09:00"'
    )


def has_times(cadences: Iterable[Cadence]) -> bool:
    """Whether some time makes the job due; else events do, or a person."""
    from duetime.cadence.triggers import TriggerCadence  # noqa: PLC0415 - see above

    return not all(isinstance(cadence, TriggerCadence) for cadence in cadences)


def overlap_of(said: str | None, cadences: Iterable[Cadence]) -> Overlap:
    """The policy that was said; else ``skip``, but ``allow`` for a job that only events start: it must not lose one.

    Raises:
        DeclarationError: there is no such policy.
    """
    from duetime.cadence.triggers import OnEvent  # noqa: PLC0415 - see above

    if said is None:
        return Overlap.ALLOW if all(isinstance(cadence, OnEvent) for cadence in cadences) else Overlap.SKIP
    if said not in tuple(Overlap):
        raise DeclarationError(f"overlap is {said!r}; allowed is {', '.join(Overlap)}")
    return Overlap(said)


def refusals(definition: Definition, cadences: Sequence[Cadence]) -> Iterator[str]:
    """Everything that a definition, with its cadences as they were read, must not be: what is wrong, what would be right."""
    yield from _name_refusals(definition)
    yield from _cadence_refusals(definition, cadences)
    yield from _number("catch_up", definition.catch_up, 0, MOST_CAUGHT_UP)
    yield from _number("failure_threshold", definition.failure_threshold, 1, None)
    for field, limit in _TEXT_LIMITS.items():
        yield from _text(field, getattr(definition, field), limit)
    size = len((definition.payload or "").encode())
    if size > PAYLOAD_LIMIT:
        yield (
            f"its payload has {size:,} bytes as JSON; each occurrence's row carries it, so at most {PAYLOAD_LIMIT:,}"
            " are allowed: store it elsewhere, and pass a reference to it"
        )


def is_too_fine(definition: Definition, finest: Precision) -> bool:
    """Whether it asks for more than a back end honours whose timers are no finer than this; `TOO_FINE` says so."""
    return finest == "minute" and definition.precision == "second"


def _name_refusals(definition: Definition) -> Iterator[str]:
    try:
        job_name(definition.name)
    except InvalidIdentifier as refused:
        yield str(refused)
    else:
        if definition.name.startswith(RESERVED) and not definition.self_scheduled:
            yield f"job {definition.name!r} begins with {RESERVED!r}, which is kept for the system's own jobs"


def _cadence_refusals(definition: Definition, cadences: Sequence[Cadence]) -> Iterator[str]:
    if len(cadences) > MOST_CADENCES:
        yield f"it has {len(cadences)} cadences; at most {MOST_CADENCES} are allowed"
    names = [cadence.name for cadence in cadences]
    for name in sorted({name for name in names if names.count(name) > 1}):
        yield f"the cadence {name} is said twice; once is enough"
    for each in cadences:
        yield from _loop(definition.name, each)
    if definition.precision not in get_args(Precision):
        yield f"precision is {definition.precision!r}; allowed is second or minute"
    elif definition.precision == "minute":
        for each in cadences:
            if each.precision == "second":
                yield (
                    f"precision is 'minute', but {each.text!r} is due at seconds within a minute;"
                    " say precision='second', or a cadence of whole minutes"
                )


def _loop(name: str, cadence: Cadence) -> Iterator[str]:
    """A job that a run's own events start would start itself, and so on for ever."""
    from duetime.cadence.triggers import OnEvent  # noqa: PLC0415 - see above

    if isinstance(cadence, OnEvent) and cadence.source == EVENT_SOURCE and cadence.type.startswith("run."):
        detail = cadence.pattern().get("detail", {})
        jobs = (detail.get("action") or {}).get("job") if isinstance(detail, dict) else None
        if not jobs or not all(isinstance(job, str) and job != name for job in jobs):
            yield (
                f"{cadence.text!r} could start it by its own runs, for ever: name the jobs that it follows, by"
                ' match={"action": {"job": ["another-job"]}}'
            )


def _number(field: str, value: object, low: int, high: int | None) -> Iterator[str]:
    allowed = f"a whole number from {low}" + (f" to {high}" if high is not None else "")
    is_complete = isinstance(value, int) and not isinstance(value, bool)
    if not is_complete or value < low or (high is not None and value > high):  # type: ignore[operator]
        yield f"{field} is {value!r}; allowed is {allowed}"


def _text(field: str, value: object, limit: int) -> Iterator[str]:
    if not isinstance(value, str):
        yield f"{field} is {value!r}; it must be text"
    elif len(value) > limit:
        yield f"{field} has {len(value)} characters; at most {limit} are allowed"
