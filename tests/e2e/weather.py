"""The weather between our code and an emulator.

Microburst as a process of the tests' own, and what it is told to do.

Three things go wrong, as they do on AWS: a call is throttled, a connection is reset before the call arrives,
an answer is lost after what was written. *Rain* is each of them now and then on every call, which the AWS
client mostly repeats by itself. A *storm* is one of them on every call that names one action, until the
client has given up, perhaps several times over: what then happens is duetime's own.
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

from tests.e2e.emulator import free_port, serving

PROGRAM = Path(__file__).with_name("seeded_microburst.py")
CONTROL = "/_microburst"
_FIRED = re.compile(
    r'^microburst_faults_total\{service="(.+)",operation="(.+)",action="(.+)"\} (\d+)$', re.MULTILINE
)

Rule = Mapping[str, Any]


class Fault(Enum):
    """What goes wrong; the value is the beginning of microburst's own word for it."""

    THROTTLED = "error"
    RESET = "reset"
    LOST = "response:abort"


THROTTLES = {
    "dynamodb": {"code": "ProvisionedThroughputExceededException"},
    "sqs": {"code": "RequestThrottled"},
    "scheduler": {"code": "ThrottlingException", "status": 429},
}
"""How each service says that it is asked too often."""


def _effect(service: str, fault: Fault) -> Rule:
    return {
        Fault.THROTTLED: {"error": THROTTLES[service]},
        Fault.RESET: {"reset": True},
        Fault.LOST: {"response": {"abort_bytes": 0}},
    }[fault]


def rain(jitter_draw: float, *, sparing: str) -> list[Rule]:
    """Return each fault of each service, with this chance on every call whose body lacks `sparing`."""
    dry = {"body": f"!contains(to_string(@), '{sparing}')"}
    bare = {"scheduler": "DeleteSchedule"}  # it has no body
    return [
        {"service": service, "probability": jitter_draw, **where, **_effect(service, fault)}
        for service in THROTTLES
        for fault in Fault
        for where in (dry, *([{"operation": bare[service]}] if service in bare else []))
    ]


@dataclass(frozen=True)
class Storm:
    """One fault of one operation, so many times in succession, or for all calls that match `only`."""

    service: str
    operation: str
    fault: Fault
    times: int | None = None
    only: str = ""
    """What else must be in the body of a call."""

    def over(self, name: str) -> Rule:
        """It comes over the calls whose body has this name in it."""
        words = [f"contains(to_string(@), '{row}')" for row in (name, self.only) if row]
        return {
            "service": self.service,
            "operation": self.operation,
            "body": " && ".join(words),
            **({} if self.times is None else {"times": self.times}),
            **_effect(self.service, self.fault),
        }


@dataclass(frozen=True)
class Weather:
    """The proxy, and what it has done."""

    endpoint: str

    def make(self, rules: Sequence[Rule]) -> None:
        """Let this be the weather from now on; of several rules for a call the first counts."""
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
def over(upstream: str, directory: Path, *, seed: int) -> Iterator[Weather]:
    """Fair weather in front of an emulator, to be made worse; its log is in `directory`."""
    port = free_port()
    words = [str(PROGRAM), str(seed), "--upstream", upstream, "--host", "127.0.0.1", "--port", str(port)]
    env = {"PATH": os.defpath, "HOME": str(directory)}
    with serving(words, port, env=env, log=directory / "microburst.log") as endpoint:
        yield Weather(endpoint)
