"""Which functions each test calls, which conditions it sends, and how long it takes.

One file for each file of tests, in ``.cache/mutation``, so that an interrupted run goes on.
"""

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from tests.mutation.wire import Seen

ROOT = Path(__file__).parents[2]
CACHE = ROOT / ".cache" / "mutation"
CONDITIONS = [
    *sorted((ROOT / "src/duetime/aws").glob("*.py")),
    *(Path(__file__).with_name(name) for name in ("condition_text.py", "wire.py", "differences.py")),
]
"""The modules whose conditions are recorded, and how: after a change of one, no former record holds."""


@dataclass(frozen=True)
class TestRecord:
    """What one test did."""

    __test__ = False

    name: str
    seconds: float
    passed: bool
    functions: frozenset[str]
    conditions: frozenset[Seen]
    unmarked: frozenset[str] = frozenset()
    differences: frozenset[str] = frozenset()


def digest(*files: Path) -> str:
    """Return a hash of the contents of files."""
    found = hashlib.sha256()
    for path in files:
        found.update(path.read_bytes())
    return found.hexdigest()[:16]


def record_file(test_file: Path) -> Path:
    name = str(test_file.relative_to(ROOT)).replace("/", "-").removesuffix(".py")
    return CACHE / "map" / f"{name}.{digest(test_file, *CONDITIONS)}.json"


def is_recorded(test_file: Path, names: Sequence[str]) -> bool:
    """Return whether these tests of a file are recorded: the contract suite's come from elsewhere."""
    path = record_file(test_file)
    return path.exists() and {row["name"] for row in json.loads(path.read_text())} == set(names)


def write(test_file: Path, records: Iterable[TestRecord]) -> None:
    path = record_file(test_file)
    path.parent.mkdir(parents=True, exist_ok=True)
    rows = [
        {
            key: sorted(value) if isinstance(value, frozenset) else value
            for key, value in asdict(record).items()
        }
        for record in records
    ]
    beside = path.with_suffix(".new")
    beside.write_text(json.dumps(rows))
    beside.rename(path)


def read(test_files: Sequence[Path]) -> list[TestRecord]:
    return [_record(row) for path in test_files for row in json.loads(record_file(path).read_text())]


def _record(row: dict) -> TestRecord:
    conditions = frozenset(
        (site, text, tuple((name, kind) for name, kind in values)) for site, text, values in row["conditions"]
    )
    sets = {key: frozenset(row[key]) for key in ("functions", "unmarked")}
    return TestRecord(**{**row, **sets, "conditions": conditions})
