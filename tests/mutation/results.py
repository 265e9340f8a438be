"""The results of mutants: those of this machine, in ``.cache``, and those that the repository holds."""

import ast
import json
import tomllib
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.mutation.coverage_map import CACHE, ROOT, digest
from tests.mutation.mutant import Mutant, types_of
from tests.mutation.sites import condition_sites, paths
from tests.mutation.wire import Seen

HERE = Path(__file__).parent
CONDITIONS, KILLERS, SURVIVORS = HERE / "conditions.json", HERE / "killers.json", HERE / "survivors.toml"
TIMED_OUT = "timed out"
STALE = "stale"
CONTRACT = sorted(
    path
    for place in ("contract/src/duetime_contract", "tests/contract/rules")
    for path in (ROOT / place).glob("*.py")
)
"""The tests that the files of ``tests/contract`` inherit. A new one may kill what survived."""


@dataclass(frozen=True)
class Result:
    """Which test killed a mutant; `TIMED_OUT`, `STALE` if none sent its condition, or None for a survivor."""

    mutant: Mutant
    killer: str | None


class Results:
    """The results of this machine.

    A kill holds while the module and the killing test's file are the same; a survival while the module and
    all tests that reach the place are, for budgets up to the one that it had.
    """

    def __init__(self, budget: float, path: Path = CACHE / "results.jsonl") -> None:
        self._budget, self._path = budget, path
        rows = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
        self._rows = {row["id"]: row for row in rows}
        self._sources = paths()

    def valid(self, mutant: Mutant, reaching: Iterable[str]) -> Result | None:
        row = self._rows.get(mutant.id)
        if row is None or row["key"] != self._key(mutant, row["killer"], reaching):
            return None
        if row["killer"] is None and row.get("budget", 0) < self._budget:
            return None
        return Result(mutant, row["killer"])

    def hint(self, mutant: Mutant) -> str | None:
        return self._rows.get(mutant.id, {}).get("killer")

    def add(self, result: Result, reaching: Iterable[str]) -> None:
        key = self._key(result.mutant, result.killer, reaching)
        self._path.parent.mkdir(parents=True, exist_ok=True)
        row = {"id": result.mutant.id, "killer": result.killer, "key": key, "budget": self._budget}
        self._rows[result.mutant.id] = row
        with self._path.open("a") as lines:
            lines.write(json.dumps(row) + "\n")

    def _key(self, mutant: Mutant, killer: str | None, reaching: Iterable[str]) -> str:
        tests = reaching if killer in {None, TIMED_OUT} else [killer]
        files = sorted({ROOT / test.split("::")[0] for test in tests})
        present = [path for path in files if path.exists()]
        contract = () if killer else CONTRACT
        return digest(self._sources[mutant.module], *present, *contract) if present == files else ""


def read_conditions() -> list[Seen]:
    """Return the conditions that the repository lists for each site."""
    listed = json.loads(CONDITIONS.read_text()) if CONDITIONS.exists() else {}
    return [
        (site, text, tuple(sorted(types.items())))
        for site, texts in listed.items()
        for text, types in texts.items()
    ]


def write_conditions(seen: Iterable[Seen], *, is_complete: bool) -> None:
    """List the conditions of each site. Some tests do not send all: the former list stays beside theirs."""
    listed: dict[str, dict[str, dict[str, str]]] = {}
    sources = {module: ast.parse(path.read_text()) for module, path in paths().items()}
    present = {site for module, tree in sources.items() for site in condition_sites(module, tree)}
    former = () if is_complete else (row for row in read_conditions() if row[0] in present)
    for (site, text), types in types_of([*seen, *former]).items():
        listed.setdefault(site, {})[text] = types
    CONDITIONS.write_text(json.dumps(listed, indent=1, sort_keys=True, ensure_ascii=False) + "\n")


def read_killers() -> dict[str, str]:
    return json.loads(KILLERS.read_text()) if KILLERS.exists() else {}


def write_killers(results: Iterable[Result], known: Collection[str]) -> None:
    """Write the tests that killed these mutants, beside those of the other known ones."""
    killers = read_killers() | {result.mutant.id: result.killer for result in results}
    killers = {mutant: killer for mutant, killer in killers.items() if killer and mutant in known}
    KILLERS.write_text(json.dumps(killers, indent=0, sort_keys=True, ensure_ascii=False) + "\n")


def read_reasons() -> Mapping[str, str]:
    """Return why each explained mutant survives, by its id."""
    listed = tomllib.loads(SURVIVORS.read_text())["survivor"] if SURVIVORS.exists() else []
    return {f"{row['where']} | {done}": row["reason"] for row in listed for done in row["done"]}
