"""``python -m tests.conformance COMMAND``: hold a library against the facts, by an adapter.

Exit status 1 if an answer differs from a fact.
"""

from __future__ import annotations

import argparse
import json
import shlex
import subprocess
import sys
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from tests.conformance.facts import COUNT, RULES, Fact, read


class Verdict(NamedTuple):
    """The answer to one fact: ``passed``, ``failed`` or ``unsupported``, and what was answered."""

    fact: Fact
    status: str
    answer: str


def verdicts(command: Sequence[str], facts: Sequence[Fact]) -> Iterator[Verdict]:
    """Yield the adapter's verdict on each fact; one line of JSON goes in for each, and one comes out.

    Raises:
        SystemExit: the adapter ended, or answered with something else.
    """
    with subprocess.Popen(  # noqa: S603 - the caller's words
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as adapter:
        if adapter.stdin is None or adapter.stdout is None:
            raise SystemExit("the adapter has no pipes")
        for fact in facts:
            question = {**fact._asdict(), "expected": None, "count": len(fact.expected.split()) + 1}
            adapter.stdin.write(json.dumps(question) + "\n")
            adapter.stdin.flush()
            line = adapter.stdout.readline()
            if not line:
                raise SystemExit(f"the adapter ended at fact {fact.number}")
            yield _verdict(fact, line)
        adapter.stdin.close()


def _verdict(fact: Fact, line: str) -> Verdict:
    answer: Any
    try:
        answer = json.loads(line)
        if "unsupported" in answer:
            return Verdict(fact, "unsupported", str(answer["unsupported"]))
        runs = [run for run in answer["runs"] if run <= fact.until]
    except (ValueError, KeyError, TypeError):
        raise SystemExit(f"fact {fact.number}: the adapter wrote {line.strip()!r}") from None
    expected = fact.expected.split()
    runs = runs[: min(len(expected) + 1, COUNT)]
    return Verdict(fact, "passed" if runs == expected else "failed", " ".join(runs))


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the failed facts, and how many passed."""
    parser = argparse.ArgumentParser(prog="python -m tests.conformance", description=__doc__)
    parser.add_argument("command", help="the adapter, such as 'python -m tests.conformance.croniter_adapter'")
    parser.add_argument("--rule", choices=RULES, help="only the facts of this rule for clock changes")
    words = parser.parse_args(arguments)
    facts = [fact for fact in read() if words.rule in (None, fact.rule)]
    found = [*verdicts(shlex.split(words.command), facts)]
    for verdict in found:
        if verdict.status == "failed":
            fact = verdict.fact
            print(f"fact {fact.number}: {fact.expression} in {fact.tz}, {fact.rule}, after {fact.after}")
            print(f"    expected {fact.expected or 'nothing'}")
            print(f"    answered {verdict.answer or 'nothing'}")
    counts = {status: sum(verdict.status == status for verdict in found) for status in _STATUSES}
    print(", ".join(f"{count} {status}" for status, count in counts.items()))
    return int(counts["failed"] > 0)


_STATUSES = ("passed", "failed", "unsupported")

if __name__ == "__main__":
    sys.exit(main())
