"""Costs: the packages that one import loads beyond another one, by ``python -X importtime``."""

from __future__ import annotations

import re
from collections import Counter
from functools import cache

from bench.fresh import run_fresh

SHOWN = 4
_LINE = re.compile(r"import time:\s+(\d+) \|\s+\d+ \|\s+(\S+)")
_CLIENTS = """
import time, boto3, boto3.session
make, taken = boto3.session.Session.client, []
def timed(self, name, *args, **kwargs):
    before = time.process_time()
    try:
        return make(self, name, *args, **kwargs)
    finally:
        taken.append((name, time.process_time() - before))
boto3.session.Session.client = timed
{code}
print(", ".join(f"{{name}} {{1e3 * spent:.0f}} ms" for name, spent in taken))
"""


def costliest(code: str, base: str) -> str:
    """Return the cost of the modules of `code` that `base` does not import, by package, the largest first."""
    common = _modules(base)
    packages: Counter[str] = Counter()
    for module, microseconds in _modules(code).items():
        if module not in common and not module.startswith(
            "functions"
        ):  # whose own time is that of its clients
            packages[module.partition(".")[0]] += microseconds
    dear = ", ".join(f"{name} {spent / 1e3:.0f} ms" for name, spent in packages.most_common(SHOWN))
    return f"{dear}; clients: {_clients(code)}"


@cache
def _modules(code: str) -> dict[str, int]:
    """Return each module's own microseconds, without its imports."""
    output = run_fresh("-X", "importtime", "-c", code).stderr
    return {name: int(spent) for spent, name in _LINE.findall(output)}


def _clients(code: str) -> str:
    return run_fresh("-c", _CLIENTS.format(code=code)).stdout.strip()
