"""The rules for a job that runs after another one. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING

from duetime import instant
from duetime.cadence.errors import did_you_mean
from duetime.declare.timed_cadences import has_times
from duetime.ids import is_job_name
from duetime.model.cadence_set import CadenceSet
from duetime.model.job import Definition

if TYPE_CHECKING:
    from duetime.cadence import Cadence

SHORTEST_WAIT, LONGEST_WAIT = timedelta(minutes=1), timedelta(days=7)

MOST_IN_CHAIN = 50
"""Jobs of a chain that are followed to find a circle."""


def after_refusals(definition: Definition, cadences: Sequence[Cadence]) -> Iterator[str]:
    """Return the problems of `after` and `after_timeout` that the definition alone shows."""
    after, timeout = definition.after, definition.after_timeout
    if after is None:
        if timeout is not None:
            yield 'after_timeout is given without after; add after="the-other-job"'
        return
    if not is_job_name(str(after)):
        yield f'after is {after!r}, which is no name of a job; use after="nightly-import" or another'
    if after == definition.name:
        yield f"after is {after!r}, the job itself; name another job"
    if not has_times(cadences):
        yield (
            "after is given, but no cadence has times: a run waits for that of the same nominal day;"
            ' add a cadence such as daily("05:00")'
        )
    if timeout is not None and not SHORTEST_WAIT.total_seconds() <= timeout <= LONGEST_WAIT.total_seconds():
        yield f"after_timeout is {timeout} seconds; allowed is {SHORTEST_WAIT} to {LONGEST_WAIT}"


def chain_refusals(
    definition: Definition,
    find: Callable[[str], Definition | None],
    known: Iterable[str] = (),
    *,
    remedy: str = "declare it in the same app",
) -> Iterator[str]:
    """Return the problems that the other jobs show: `after` is unknown, has no times, or waits for this job.

    Args:
        definition: the job.
        find: returns the definition of another job; None if it is not declared.
        known: the names of the jobs that it may follow, for a suggestion.
        remedy: what to do about an unknown one, without a suggestion.
    """
    after = definition.after
    if after is None or after == definition.name:
        return
    other = find(after)
    if other is None:
        hint = did_you_mean(after, [name for name in known if name != definition.name])
        yield f"after is {after!r}, and there is no such job; {hint or remedy}"
        return
    if other.self_scheduled or not has_times(CadenceSet.parse(other.cadences, instant.EARLIEST).cadences):
        yield f"after is {after!r}, which has no nominal times; name a job with a cadence"
    chain = [definition.name, other.name]
    while (following := other.after) is not None and len(chain) <= MOST_IN_CHAIN:
        chain.append(following)
        if following == definition.name:
            yield f"after makes a circle, in which each job waits for ever: {' after '.join(chain)}"
            return
        found = None if following in chain[:-1] else find(following)
        if found is None:
            return
        other = found
