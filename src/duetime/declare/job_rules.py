"""The rules for a job's definition, from code or from a registration. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, get_args

from duetime.errors import DeclarationError, InvalidArgument
from duetime.ids import EVENT_SOURCE, job_name
from duetime.model.built_in import RESERVED
from duetime.model.job import Definition, Overlap, Precision

if TYPE_CHECKING:  # imported where a job is declared: an app without jobs loads no cadence
    from duetime.cadence import Cadence

MOST_CADENCES = 20
MOST_CAUGHT_UP = 100
PAYLOAD_LIMIT = 2_048
"""Bytes that a row stores without a separate item; see `duetime.model.new_action.IN_ROW_LIMIT`."""

TOO_FINE = "precision is 'second', and this back end's timers honour minutes only; use precision='minute'"

_TEXT_LIMITS = {"title": 100, "category": 50, "description": 500}


def read_cadences(cadences: Iterable[Cadence | str], *, default_tz: str | None = None) -> tuple[Cadence, ...]:
    """Parse cadences or their texts; return ``manual`` if there is no other.

    They are sorted, so that their order does not matter. `default_tz` becomes the zone of cadences that name
    none and have no default yet.

    Raises:
        DeclarationError: one is neither a cadence nor a text.
        InvalidCadence: a text is no cadence, or its cadence never fires.
    """
    from duetime.cadence.triggers import Manual, TriggerCadence, manual  # noqa: PLC0415 - see above

    def zoned(cadence: Cadence) -> Cadence:
        if default_tz is None or isinstance(cadence, TriggerCadence) or cadence.modifiers.default_tz:
            return cadence
        return cadence.with_default_tz(default_tz)

    read = [zoned(cadence) for cadence in map(_read, cadences) if not isinstance(cadence, Manual)]
    return tuple(sorted(read, key=str)) or (manual(),)


def _read(value: Cadence | str) -> Cadence:
    from duetime.cadence import Cadence, parse  # noqa: PLC0415 - see above

    if isinstance(value, Cadence | str):
        return value if isinstance(value, Cadence) else parse(value)
    raise DeclarationError(
        f'a cadence is {value!r}; use daily("09:00") or another, or its text: "daily 09:00"'
    )


def overlap_of(overlap: str | None, cadences: Iterable[Cadence]) -> Overlap:
    """Return the policy.

    By default ``skip``, but ``allow`` for a job that only events start, so that it loses none.

    Raises:
        DeclarationError: there is no such policy.
    """
    from duetime.cadence.triggers import OnEvent  # noqa: PLC0415 - see above

    if overlap is None:
        return Overlap.ALLOW if all(isinstance(cadence, OnEvent) for cadence in cadences) else Overlap.SKIP
    if overlap not in tuple(Overlap):
        raise DeclarationError(f"overlap is {overlap!r}; allowed is {', '.join(Overlap)}")
    return Overlap(overlap)


def refusals(definition: Definition, cadences: Sequence[Cadence]) -> Iterator[str]:
    """Return the problems of a definition and its parsed cadences, each with a remedy."""
    yield from _name_refusals(definition)
    yield from _cadence_refusals(definition, cadences)
    yield from _number("catch_up", definition.catch_up, 0, MOST_CAUGHT_UP)
    yield from _number("failure_threshold", definition.failure_threshold, 1, None)
    if definition.has_deadline or definition.every_success_within is not None:
        from duetime.declare.deadline_rules import deadline_refusals  # noqa: PLC0415 - few jobs need it

        yield from deadline_refusals(definition, cadences)
    if definition.after is not None or definition.after_timeout is not None:
        from duetime.declare.after_rules import after_refusals  # noqa: PLC0415 - few jobs need it

        yield from after_refusals(definition, cadences)
    for field, limit in _TEXT_LIMITS.items():
        yield from _text(field, getattr(definition, field), limit)
    size = len((definition.payload or "").encode())
    if size > PAYLOAD_LIMIT:
        yield (
            f"its payload has {size:,} bytes as JSON; each occurrence's row stores it,"
            f" so at most {PAYLOAD_LIMIT:,} are allowed: store it elsewhere, and pass a reference to it"
        )


def is_too_fine(definition: Definition, finest: Precision) -> bool:
    """Return whether it needs timers of seconds, and the back end has only minutes; see `TOO_FINE`."""
    return finest == "minute" and definition.precision == "second"


def _name_refusals(definition: Definition) -> Iterator[str]:
    try:
        job_name(definition.name)
    except InvalidArgument as refused:
        yield str(refused)
    else:
        if definition.name.startswith(RESERVED) and not definition.self_scheduled:
            yield (
                f"its name {definition.name!r} begins with {RESERVED!r},"
                " which is reserved for the system's own jobs"
            )


def _cadence_refusals(definition: Definition, cadences: Sequence[Cadence]) -> Iterator[str]:
    if len(cadences) > MOST_CADENCES:
        yield f"it has {len(cadences)} cadences; at most {MOST_CADENCES} are allowed"
    for cadence in cadences:
        yield from _never_runs(cadence)
    yield from _calendar_refusals(cadences)
    if (counts := sum(cadence.count > 0 for cadence in cadences)) > 1:
        yield f"a job has one count, and {counts} of its cadences have one; declare a job for each"
    names = [cadence.name for cadence in cadences]
    for name in sorted({name for name in names if names.count(name) > 1}):
        yield (
            f"the cadence {name} occurs twice; remove one"
            if len({cadence for cadence in cadences if cadence.name == name}) == 1
            else f"different cadences are named {name}, as intervals of other starts; declare a job for each"
        )
    for cadence in cadences:
        yield from _loop(definition.name, cadence)
        yield from _pattern(cadence)
    if definition.precision not in get_args(Precision):
        yield f"precision is {definition.precision!r}; allowed is second or minute"
    elif definition.precision == "minute":
        for cadence in cadences:
            if cadence.precision == "second":
                yield (
                    f"precision is 'minute', but {cadence.text!r} is due at seconds within a minute;"
                    " use precision='second', or a cadence of whole minutes"
                )


def _never_runs(cadence: Cadence) -> Iterator[str]:
    """Return a problem if the cadence may never run."""
    from duetime.cadence.errors import InvalidCadence  # noqa: PLC0415 - see above

    try:
        cadence.check_can_run()
    except InvalidCadence as refused:
        yield f"the cadence {cadence.text!r}: {refused.problem}; {refused.remedy}"


def unresolved_refusals(cadences: Iterable[Cadence]) -> Iterator[str]:
    """Return a problem for each cadence with a calendar whose holidays were not read where it was made."""
    for cadence in cadences:
        if cadence.modifiers.calendar is not None and (missing := cadence.modifiers.calendar.unresolved):
            yield f"the cadence {cadence.name} lacks the holidays of {missing}: define it outside of Lambda"


def _calendar_refusals(cadences: Sequence[Cadence]) -> Iterator[str]:
    """Return the names that several calendars share: a cadence's name contains only the calendar's."""
    calendars = {cadence.modifiers.calendar for cadence in cadences if cadence.modifiers.calendar}
    names = [calendar.name for calendar in calendars if calendar.name]
    for name in sorted({name for name in names if names.count(name) > 1}):
        yield f"{names.count(name)} different calendars are named {name!r}; give each its own name"


def _loop(name: str, cadence: Cadence) -> Iterator[str]:
    """Return a problem if a job's own runs could start it, in an endless loop."""
    from duetime.cadence.triggers import OnEvent  # noqa: PLC0415 - see above

    if isinstance(cadence, OnEvent) and cadence.source == EVENT_SOURCE and cadence.type.startswith("run."):
        detail = cadence.pattern().get("detail", {})
        jobs = (detail.get("action") or {}).get("job") if isinstance(detail, dict) else None
        if not jobs or not all(isinstance(job, str) and job != name for job in jobs):
            yield (
                f"the cadence {cadence.text!r} could start it by its own runs, for ever:"
                ' name the jobs that it follows, by match={"action": {"job": ["another-job"]}}'
            )


def _pattern(cadence: Cadence) -> Iterator[str]:
    """Return the problems for which EventBridge would reject the rule of a trigger, in each sweep again."""
    from duetime.cadence.triggers import OnEvent  # noqa: PLC0415 - see above

    if isinstance(cadence, OnEvent):
        from duetime.model.event_pattern_rules import problems_of  # noqa: PLC0415 - few jobs need it

        yield from (f"the cadence {cadence.text}: {problem}" for problem in problems_of(cadence.pattern()))


def _number(field: str, value: object, low: int, high: int | None) -> Iterator[str]:
    allowed = f"a whole number from {low}" + (f" to {high}" if high is not None else "")
    is_integer = isinstance(value, int) and not isinstance(value, bool)
    if not is_integer or value < low or (high is not None and value > high):  # type: ignore[operator]
        yield f"{field} is {value!r}; allowed is {allowed}"


def _text(field: str, value: object, limit: int) -> Iterator[str]:
    if not isinstance(value, str):
        yield f"{field} is {value!r}; it must be text"
    elif len(value) > limit:
        yield f"{field} has {len(value)} characters; at most {limit} are allowed"
