"""What the run prints."""

import sys
from collections import defaultdict
from collections.abc import Mapping, Sequence

from tests.mutation.results import TIMED_OUT, Result

GOAL = 0.95


def say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def line(result: Result) -> str:
    word = {None: "SURVIVED", TIMED_OUT: "timed out"}.get(result.killer, "killed")
    return f"{word}: {result.mutant.id}"


def print_report(results: Sequence[Result], reasons: Mapping[str, str]) -> int:
    """Print the kill rate of each module and the survivors; return the exit code.

    A survivor without a reason fails the run, and so does a rate below the goal.
    """
    by_module: dict[str, list[Result]] = defaultdict(list)
    for result in results:
        by_module[result.mutant.module].append(result)
    for module, found in sorted(by_module.items()):
        say(f"{rate(found):7.1%}  {len(found):4} mutants  {module}")
    survivors = [result for result in results if result.killer is None]
    for result in survivors:
        say(f"{line(result)}\n    {reasons.get(result.mutant.id, 'NOT EXPLAINED')}")
    late = sum(result.killer == TIMED_OUT for result in results)
    say(
        f"{rate(results):.1%} of {len(results)} mutants killed, {late} of them by a time-out;"
        f" {len(survivors)} survived"
    )
    unexplained = [result for result in survivors if result.mutant.id not in reasons]
    return int(bool(unexplained) or rate(results) < GOAL)


def rate(results: Sequence[Result]) -> float:
    return sum(result.killer is not None for result in results) / max(len(results), 1)
