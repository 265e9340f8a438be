"""Lazy imports: what each saves in a process that does not need it.

Each sample is a fresh process that imports the module that holds the lazy import, alone and with the lazy
target.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from bench.fresh import ROOT, run_fresh
from bench.result import Result

_ROUNDS = 5
_PACKAGE = ROOT / "src/duetime"
_SAMPLE = (
    "import time, {base}; before = time.process_time(); import {target}; print(time.process_time() - before)"
)


def measure() -> list[Result]:
    """Return the milliseconds of CPU that each lazy import saves, largest first."""
    gains = {pair: _gain(*pair) for pair in sorted(set(_lazy_imports()))}
    ranked = sorted(gains.items(), key=lambda item: -item[1])
    return [
        Result(bench="lazy", name=f"{base} -> {target}", measured=gain, unit="ms")
        for (base, target), gain in ranked
    ]


def _gain(base: str, target: str) -> float:
    code = _SAMPLE.format(base=base, target=target)
    return min(float(run_fresh("-c", code).stdout) for _ in range(_ROUNDS)) * 1e3


def _lazy_imports() -> Iterator[tuple[str, str]]:
    for path in _PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                for statement in ast.walk(node):
                    if isinstance(statement, ast.ImportFrom) and (statement.module or "").startswith(
                        "duetime"
                    ):
                        yield _name(path), _target(statement)


def _target(statement: ast.ImportFrom) -> str:
    name = f"{statement.module}.{statement.names[0].name}"
    path = ROOT / "src" / name.replace(".", "/")
    return name if path.is_dir() or path.with_suffix(".py").is_file() else str(statement.module)


def _name(path: Path) -> str:
    parts = path.relative_to(ROOT / "src").with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
