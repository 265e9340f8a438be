"""``python -m tests.proof``.

Removes the protocol's guards one at a time, and prints the first world that fails.
"""

# ruff: noqa: T201 - a command prints

import argparse
import logging
import sys

from tests.proof.mutations import BEGIN, GUARDS
from tests.proof.world import first_broken

WIDTH = 60


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.proof", description=__doc__)
    parser.add_argument("--seeds", type=int, default=200, help="how many worlds to try without each guard")
    given = parser.parse_args()
    logging.disable(logging.CRITICAL)
    print(f"{'without this guard':<{WIDTH}}  seed  what does not hold")
    missed = [guard for guard, remove in GUARDS.items() if not try_without(guard, remove, given.seeds)]
    print(f"{len(GUARDS) - len(missed)} of {len(GUARDS)} guards are needed in one of {given.seeds} worlds")
    return 1 if missed else 0


def try_without(guard, remove, seeds):
    """Print a line about a guard; return whether some world fails without it."""
    with remove():
        begin = BEGIN.get(guard, 0)
        found = first_broken(range(begin, begin + seeds))
    if found is None:
        print(f"{guard:<{WIDTH}}     -  nothing")
        return False
    seed, broken = found
    print(f"{guard:<{WIDTH}}  {seed:>4}  {broken.broken[0]}", flush=True)
    return True


if __name__ == "__main__":
    sys.exit(main())
