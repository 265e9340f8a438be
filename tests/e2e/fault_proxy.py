"""A proxy with faults between duetime and an emulator: Microburst as a process of the tests, and its rules.

It has three faults of AWS: a call is throttled, a connection is reset before the call arrives, or an answer
is lost after the write. Random faults hit every call with a small chance; the AWS client mostly repeats
those.
A targeted fault hits every call that names one action, until the client gives up: duetime must recover.
"""

import contextlib
import json
import os
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any

import urllib3

from duetime.rehearsal.emulator import free_port, serving

PROGRAM = Path(__file__).with_name("seeded_microburst.py")
CONTROL = "/_microburst"
_FIRED = re.compile(
    r'^microburst_faults_total\{service="(.+)",operation="(.+)",action="(.+)"\} (\d+)$', re.MULTILINE
)

Rule = Mapping[str, Any]


class Fault(Enum):
    """A fault; the value is the beginning of microburst's name."""

    THROTTLED = "error"
    RESET = "reset"
    LOST = "response:abort"


THROTTLES = {
    "dynamodb": {"code": "ProvisionedThroughputExceededException"},
    "sqs": {"code": "RequestThrottled"},
    "scheduler": {"code": "ThrottlingException", "status": 429},
}
"""The throttling error of each service."""


def _effect(service: str, fault: Fault) -> Rule:
    return {
        Fault.THROTTLED: {"error": THROTTLES[service]},
        Fault.RESET: {"reset": True},
        Fault.LOST: {"response": {"abort_bytes": 0}},
    }[fault]


def random_faults(jitter_draw: float, *, sparing: str) -> list[Rule]:
    """Return each fault of each service, with this chance on every call whose body lacks `sparing`."""
    spared = {"body": f"!contains(to_string(@), '{sparing}')"}
    bare = {"scheduler": "DeleteSchedule"}  # it has no body
    return [
        {"service": service, "probability": jitter_draw, **where, **_effect(service, fault)}
        for service in THROTTLES
        for fault in Fault
        for where in (spared, *([{"operation": bare[service]}] if service in bare else []))
    ]


@dataclass(frozen=True)
class TargetedFault:
    """One fault of one operation, so many times in succession, or for all calls that match `only`."""

    service: str
    operation: str
    fault: Fault
    times: int | None = None
    only: str = ""
    """What else must be in the body of a call."""

    def over(self, name: str) -> Rule:
        """Return the rule for the calls whose body contains this name."""
        words = [f"contains(to_string(@), '{row}')" for row in (name, self.only) if row]
        return {
            "service": self.service,
            "operation": self.operation,
            "body": " && ".join(words),
            **({} if self.times is None else {"times": self.times}),
            **_effect(self.service, self.fault),
        }


@dataclass(frozen=True)
class FaultProxy:
    """A running proxy, and its counters."""

    endpoint: str

    def make(self, rules: Sequence[Rule]) -> None:
        """Replace the rules; the first matching rule of a call applies."""
        self._control("POST", "/rules", json.dumps(rules).encode())

    def fired(self) -> list[int]:
        """How often each rule has fired, in their order."""
        return [load["fired_count"] for load in json.loads(self._control("GET", "/rules"))]

    def faults(self) -> Counter[tuple[str, str, Fault]]:
        """How often each service's operation met which fault, by microburst's own counters."""
        report = self._control("GET", "/metrics").decode()
        return Counter(
            {
                (service, operation, next(row for row in Fault if action.startswith(row.value))): int(times)
                for service, operation, action, times in _FIRED.findall(report)
            }
        )

    def _control(self, method: str, path: str, body: bytes | None = None) -> bytes:
        answer = urllib3.request(method, self.endpoint + CONTROL + path, body=body)
        assert answer.status == 200, answer.data
        return answer.data


@contextlib.contextmanager
def over(upstream: str, directory: Path, *, seed: int) -> Iterator[FaultProxy]:
    """Start a proxy without rules in front of an emulator; its log is in `directory`."""
    port = free_port()
    words = [str(PROGRAM), str(seed), "--upstream", upstream, "--host", "127.0.0.1", "--port", str(port)]
    env = {"PATH": os.defpath, "HOME": str(directory)}
    with serving(words, port, env=env, log=directory / "microburst.log") as endpoint:
        yield FaultProxy(endpoint)
