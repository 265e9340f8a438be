"""What the run prints."""

import sys
from collections import defaultdict
from collections.abc import Mapping, Sequence

from tests.mutation.results import STALE, TIMED_OUT, Result

GOAL = 0.95
NOT_SENT = (
    "None of the tests sent this condition. If the code no longer has it, run"
    " `python -m tests.mutation --record`, which renews conditions.json and killers.json."
    " If its tests moved to another file, run `python -m tests.mutation`."
)


def say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def line(result: Result) -> str:
    word = {None: "SURVIVED", TIMED_OUT: "timed out", STALE: "STALE"}.get(result.killer, "killed")
    return f"{word}: {result.mutant.id}"


def print_report(results: Sequence[Result], reasons: Mapping[str, str]) -> int:
    """Print the kill rate of each module and the survivors; return the exit code.

    A survivor without a reason fails the run, and so do a rate below the goal and a stale condition.
    """
    stale = [result for result in results if result.killer == STALE]
    results = [result for result in results if result.killer != STALE]
    by_module: dict[str, list[Result]] = defaultdict(list)
    for result in results:
        by_module[result.mutant.module].append(result)
    for module, found in sorted(by_module.items()):
        say(f"{rate(found):7.1%}  {len(found):4} mutants  {module}")
    survivors = [result for result in results if result.killer is None]
    for result in survivors:
        say(f"{line(result)}\n    {reasons.get(result.mutant.id, 'NOT EXPLAINED')}")
    for result in stale:
        say(f"{line(result)}\n    {NOT_SENT}")
    late = sum(result.killer == TIMED_OUT for result in results)
    say(
        f"{rate(results):.1%} of {len(results)} mutants killed, {late} of them by a time-out;"
        f" {len(survivors)} survived, {len(stale)} are stale"
    )
    unexplained = [result for result in survivors if result.mutant.id not in reasons]
    return int(bool(unexplained or stale) or rate(results) < GOAL)


def rate(results: Sequence[Result]) -> float:
    return sum(result.killer is not None for result in results) / max(len(results), 1)
