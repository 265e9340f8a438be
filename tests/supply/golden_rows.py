"""Golden rows: what each release wrote, as JSON in ``golden/``, with the times moved to the present.

``python -m tests.supply.golden_rows VERSION`` writes the file of the version in this clone; `make release`
calls it. The file of a release never changes.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from duetime.aws.items import to_item
from duetime.clock import SystemClock
from duetime.model.action import Ending, SkipReason, Status
from tests.stored_jobs import to_definition, to_state
from tests.supply.project import ROOT

FOLDER = ROOT / "tests/supply/golden"
SCRIPT = ROOT / "tests/supply/version_rows.py"
AWS = {
    "AWS_ACCESS_KEY_ID": "test",
    "AWS_SECRET_ACCESS_KEY": "test",
    "AWS_DEFAULT_REGION": "eu-west-1",
    "AWS_ACCOUNT_ID_ENDPOINT_MODE": "disabled",
}

_LONG = re.compile(r"x{1000,}")
_SHORTENED = re.compile(r"<(\d+) times x>")
_MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.(?!000000)\d{6}Z")
"""An instant of the writing process. A nominal time of a job has no microseconds, and stays."""
_FORM = "%Y-%m-%dT%H:%M:%S.%fZ"


def write(version: str, source: Path = ROOT / "src", folder: Path = FOLDER) -> Path:
    """Let the code in `source` write its rows, and store them as those of a version."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{version}.json"
    call(source, "write", file)
    rows: dict[str, Any] = {"written_at": SystemClock().now().strftime(_FORM), **json.loads(file.read_text())}
    text = _LONG.sub(lambda found: f"<{len(found[0])} times x>", json.dumps(rows, indent=1, sort_keys=True))
    file.write_text(text + "\n")
    return file


def write_reader(version: str, source: Path = ROOT / "src", folder: Path = FOLDER) -> Path:
    """Store what the reader of a version needs of the items that this code writes."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{version}.reader.json"
    file.write_text(json.dumps(specimens()))
    file.write_text(call(source, "", file, script=ROOT / "tests/supply/reader_needs.py"))
    return file


def specimens() -> dict[str, list[Any]]:
    """Return items with every attribute, as this code writes them."""
    from tests.hostile import attributes  # noqa: PLC0415 - `read` needs it not

    return {
        "row": [to_item(row, due_order=True) for row in attributes.rows()],
        "state": [to_state(attributes.job())],
        "definition": [to_definition(attributes.job())],
    }


def words() -> dict[str, list[str]]:
    """Return the values of the enumerations in rows."""
    return {"status": [*Status], "ending": [*Ending], "skip_reason": [*SkipReason]}


def problems(item: dict[str, Any], reader: dict[str, Any]) -> list[str]:
    """Return why the reader of a version cannot read an item."""
    found = {name: next(iter(value)) for name, value in item.items()}
    wrong = [
        f"{name} is {found[name]}; the reader needs {kind}"
        for name, kind in {**reader["types"], **reader["needed"]}.items()
        if found.get(name, kind) != kind
    ]
    return [f"{name} is missing" for name in reader["needed"] if name not in found] + wrong


def read(file: Path) -> dict[str, Any]:
    """Return the rows of a file as if they were written now."""
    text = _SHORTENED.sub(lambda found: "x" * int(found[1]), file.read_text())
    passed = SystemClock().now() - _parsed(json.loads(text)["written_at"])
    rows: dict[str, Any] = json.loads(_MOMENT.sub(lambda found: _moved(found[0], passed), text))
    return rows


def call(source: Path, command: str, file: Path, *, script: Path = SCRIPT) -> str:
    """Run the script with the code in `source`; return what it prints."""
    environment = {**AWS, "PYTHONPATH": str(source), "PATH": os.defpath}
    done = subprocess.run(  # noqa: S603 - our own script
        [sys.executable, script, *filter(None, [command]), file],
        check=False,
        capture_output=True,
        text=True,
        env=environment,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    return done.stdout


def _parsed(text: str) -> datetime:
    return datetime.strptime(text, _FORM).replace(tzinfo=UTC)


def _moved(text: str, by: timedelta) -> str:
    return (_parsed(text) + by).strftime(_FORM)


if __name__ == "__main__":
    for made in (write(sys.argv[1]), write_reader(sys.argv[1])):
        sys.stdout.write(f"{made.relative_to(ROOT)}\n")
