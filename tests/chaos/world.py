"""One run: a seed starts the processes, injects faults for some seconds, then waits until all is final."""

import shutil
import threading
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from random import Random

from duetime.clock import SystemClock
from duetime.settings import Settings
from tests import dynamodb_local
from tests.chaos import proxy as proxies
from tests.chaos import stage
from tests.chaos.cluster import Cluster, cluster
from tests.chaos.guards import GUARDS, Guard
from tests.chaos.history import read_calls
from tests.chaos.outcome import Outcome, changes_of, is_done, ledger_of, missed_in, rows_of, unreadable_in
from tests.chaos.proxy import Proxy

CLOCK = SystemClock()
CACHE = Path(__file__).parent.parent.parent / ".cache" / "chaos"
WORKERS = ("worker-1", "worker-2", "worker-3")
ROLES = (*WORKERS, "stream", "timers", "sweep", "catchup", "caller-1", "caller-2")
HIT = (*ROLES, *WORKERS)
"""Whom the faults hit: workers twice as often."""
IS_FINAL_WITHIN = 240
"""Seconds. A run that waits for the lock of its job claims again after up to a minute."""
FREEZE = ((stage.LEASE + stage.SKEW).total_seconds() + 1, (stage.LEASE + stage.SKEW).total_seconds() + 6)
PAUSE, CHANGE = (0.2, 2.5), (4, 10)
"""Seconds: how long a process is frozen, and between two faults of processes, and of the proxy's rates."""


def run(seed: str, seconds: float, without: str = "", *, patience: float = IS_FINAL_WITHIN) -> Outcome:
    """Run one seed.

    Args:
        seed: of all choices; how they fall in real time differs from run to run.
        seconds: of faults.
        without: the guard of the protocol that the processes lack.
        patience: how many seconds after the faults all must be final.
    """
    directory = CACHE / f"{seed}{without and '-'}{without}"
    shutil.rmtree(directory, ignore_errors=True)
    (directory / "calls").mkdir(parents=True)
    faults = Random(f"{seed} faults")  # noqa: S311 - simulated faults
    with (
        dynamodb_local.running() as upstream,
        proxies.running(upstream, faults) as proxy,
        stage.services(directory) as services,
    ):
        settings = stage.make(upstream, services)
        environment = stage.environment(proxy.endpoint, services, settings)
        with cluster(environment, directory, seed, without) as processes:
            world = _World(upstream, settings, processes, proxy, seed, GUARDS.get(without, Guard()))
            return world.live(seconds, patience)


@dataclass
class _World:
    """A run under way."""

    upstream: str
    settings: Settings
    processes: Cluster
    proxy: Proxy
    seed: str
    lacks: Guard
    pause: threading.Event = field(default_factory=threading.Event)
    thaws: dict[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.draw = Random(self.seed)  # noqa: S311 - as above

    def live(self, seconds: float, patience: float) -> Outcome:
        """Start, inject faults for some seconds, and wait until all is final."""
        self._deploy()
        started_at = CLOCK.now()
        for name in ROLES:
            self.processes.start(name)
        self._inject(CLOCK.elapsed() + seconds)
        ended_at = CLOCK.now()
        self._wait_until_final(ended_at, patience)
        return self._outcome(started_at, ended_at)

    def _deploy(self) -> None:
        deploy = self.processes.start("deploy")
        deploy.wait()
        if deploy.returncode:
            self.processes.check()
        del self.processes.running["deploy"]

    def _inject(self, until: float) -> None:
        """Kill and freeze processes, and change the proxy's faults, until an instant."""
        changes_at = 0.0
        while (now := CLOCK.elapsed()) < until:
            self.processes.check()
            self._thaw(now)
            if now >= changes_at:
                self.proxy.change_faults(self.lacks.rates, self.lacks.late)
                changes_at = now + self.draw.uniform(*CHANGE)
            self._hit(self.draw.choice(HIT), now)
            self.pause.wait(self.draw.uniform(*PAUSE))
        self.proxy.end_faults()
        for name in list(self.thaws):
            self.processes.thaw(name)

    def _thaw(self, now: float) -> None:
        for name in [name for name, at in self.thaws.items() if at <= now]:
            self.processes.thaw(name)
            del self.thaws[name]

    def _hit(self, name: str, now: float) -> None:
        """Kill a process and start it again, or freeze it for longer than its leases."""
        seconds = self.draw.uniform(*FREEZE)
        if self.draw.random() < self.lacks.kills:
            self.thaws.pop(name, None)
            self.processes.kill(name)
            self.processes.start(name)
        elif name not in self.thaws:
            self.processes.freeze(name)
            self.thaws[name] = now + seconds

    def _wait_until_final(self, ended_at: datetime, patience: float) -> None:
        """End the callers; wait for late requests and for what was due; then end all processes."""
        for name in [name for name in self.processes.running if name.startswith("caller")]:
            self.processes.kill(name)
        client, begun = dynamodb_local.client(self.upstream), CLOCK.elapsed()
        while (waited := CLOCK.elapsed() - begun) < patience:
            self.pause.wait(1)
            self.processes.check()
            rows = rows_of(client, self.settings.made.actions_table)
            if waited > proxies.LATE[1] and all(is_done(row, ended_at) for row in rows):
                break
        for name in list(self.processes.running):
            self.processes.kill(name)
        while self.proxy.under_way:
            self.pause.wait(0.1)

    def _outcome(self, started_at: datetime, ended_at: datetime) -> Outcome:
        client, directory = dynamodb_local.client(self.upstream), self.processes.directory
        calls, rows = read_calls(directory / "calls"), rows_of(client, self.settings.made.actions_table)
        self.proxy.write(directory / "requests.jsonl")
        changes = changes_of(self.upstream, self.settings.made.actions_table)
        counts = {
            "seed": self.seed,
            "rows": len(rows),
            "calls": len(calls),
            "changes": len(changes),
            "requests": len(self.proxy.requests),
            **self.proxy.faults(),
            "killed": self.processes.killed,
            "frozen": self.processes.froze,
        }
        return Outcome(
            directory=directory,
            settings=self.settings,
            calls=calls,
            changes=changes,
            rows=rows,
            unreadable=unreadable_in(client, self.settings.made.actions_table),
            ledger=ledger_of(client),
            started_at=started_at,
            ended_at=ended_at,
            read_at=CLOCK.elapsed(),
            missed=missed_in(client, self.settings),
            counts=counts,
        )
