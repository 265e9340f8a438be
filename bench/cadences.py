"""Cadences: run ``bench/cadence.py``, and report the worst case of each of its measures."""

from __future__ import annotations

import json
from collections import defaultdict
from typing import Any

from bench.fresh import run_fresh
from bench.result import Result, ratio_at_most

_BUDGETS = {"cronsim": 1.0, "croniter": 0.3}


def measure() -> list[Result]:
    """Return the case of each measure with the greatest share of the other library's cost."""
    output = run_fresh("bench/cadence.py", "--quick").stdout
    measures: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for line in output.splitlines():
        if line.startswith("{"):
            row = json.loads(line)
            measures[row["measure"]].append(row)
    return [
        _result(measure, other, max(rows, key=lambda row: row["ours"] / row[other]))
        for measure, rows in measures.items()
        for other in _BUDGETS
    ]


def _result(measure: str, other: str, row: dict[str, Any]) -> Result:
    return Result(
        bench="cadences",
        name=f"{measure}: worst beside {other}",
        measured=row["ours"],
        unit="us",
        reference=row[other],
        against="cronsim, or croniter, on the same expression; python bench/cadence.py shows every one",
        budget=ratio_at_most(_BUDGETS[other]),
        note=f"{row['expression']} in {row['tz']}",
    )
