"""The world that fails without each guard, so that its test need not search for it.

``python -m tests.proof --renew`` writes the file. The worlds change with the steps and with their operations.
"""

import json
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from pathlib import Path

FILE = Path(__file__).with_name("first_failing.json")
TRIES = 8
"""How many worlds a test tries; the first is the stored one."""
MOST = 1_000
"""How many worlds a search tries."""

Remove = Callable[[], AbstractContextManager[object]]
Found = tuple[int, object]


class RemovedGuards:
    """Guards that worlds of one kind need.

    Args:
        kind: the kind, as the file names it.
        first_broken: returns the first of some worlds in which something is wrong, and what; or None.
        removes: removes each guard, by its name.
        begin: the first world to search for some of them; by default 0.
    """

    def __init__(
        self,
        kind: str,
        first_broken: Callable[[Iterable[int]], Found | None],
        removes: Mapping[str, Remove],
        begin: Mapping[str, int] | None = None,
    ) -> None:
        self.kind, self.removes = kind, removes
        self._first_broken, self._begin = first_broken, begin or {}

    def fails_without(self, guard: str) -> Found:
        """Return a world that fails without a guard, and what is wrong in it.

        Raises:
            AssertionError: neither the stored one fails, nor one of the next few.
        """
        stored = self.stored().get(guard, self._begin.get(guard, 0))
        found = self._search(guard, range(stored, stored + TRIES))
        last = stored + TRIES - 1
        advice = "`python -m tests.proof --renew` searches for another"
        assert found is not None, f"no world from {stored} to {last} fails without {guard!r}: {advice}"
        return found

    def renewed(self, guard: str) -> Found | None:
        """Return the stored world if it still fails, or the first one that does; None if there is none."""
        stored, begin = self.stored().get(guard), self._begin.get(guard, 0)
        still = None if stored is None else self._search(guard, [stored])
        return still or self._search(guard, range(begin, begin + MOST))

    def stored(self) -> dict[str, int]:
        """Return the stored world of each guard."""
        return read().get(self.kind, {})

    def _search(self, guard: str, seeds: Iterable[int]) -> Found | None:
        with self.removes[guard]():
            return self._first_broken(seeds)


def read() -> dict[str, dict[str, int]]:
    """Return the stored worlds by kind and guard."""
    return json.loads(FILE.read_text()) if FILE.exists() else {}


def write(worlds: Mapping[str, Mapping[str, int]]) -> None:
    FILE.write_text(json.dumps(worlds, indent=2) + "\n")
