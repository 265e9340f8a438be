"""``python -m tests.proof``.

Removes the protocol's guards one at a time, and prints the first world that fails. With ``--renew`` it
searches again for the worlds that no longer fail, and stores them for the tests.
"""

# ruff: noqa: T201 - a command prints

import argparse
import logging
import sys

from tests.proof import (
    failing_worlds,
    test_backfills,
    test_batches,
    test_breakers,
    test_checkpoints,
    test_regions,
    test_removed_guards,
    test_small_worlds,
)

ALL = (
    test_removed_guards.REMOVED,
    test_small_worlds.REMOVED,
    test_batches.REMOVED,
    test_backfills.REMOVED,
    test_breakers.REMOVED,
    test_breakers.PROBERS,
    test_checkpoints.REMOVED,
    test_regions.REMOVED,
)
WIDTH = 60


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.proof", description=__doc__)
    parser.add_argument("--renew", action="store_true", help="store the worlds for the tests")
    given = parser.parse_args()
    logging.disable(logging.CRITICAL)
    print(f"{'without this guard':<{WIDTH}}  seed  what does not hold")
    worlds = {removed.kind: worlds_of(removed) for removed in ALL}
    if given.renew:
        failing_worlds.write(worlds)
    missed = sum(len(removed.removes) - len(worlds[removed.kind]) for removed in ALL)
    print(f"{sum(map(len, worlds.values()))} guards are needed, {missed} are not")
    return 1 if missed else 0


def worlds_of(removed):
    """Print a line about each guard of a kind of worlds; return the world that fails without each."""
    found = {guard: try_without(removed, guard) for guard in removed.removes}
    return {guard: seed for guard, seed in found.items() if seed is not None}


def try_without(removed, guard):
    """Print a line about a guard; return the world that fails without it, or None."""
    found = removed.renewed(guard)
    if found is None:
        print(f"{guard:<{WIDTH}}     -  nothing")
        return None
    seed, broken = found
    [first, *_] = getattr(broken, "broken", None) or (broken if isinstance(broken, list) else [broken])
    print(f"{guard:<{WIDTH}}  {seed:>4}  {first}", flush=True)
    return seed


if __name__ == "__main__":
    sys.exit(main())
