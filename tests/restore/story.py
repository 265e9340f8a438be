"""Ten minutes of runs, a backup, ten more minutes of runs and changes; then the tables are lost."""

import json
from dataclasses import replace
from datetime import timedelta

import boto3

from duetime.restore.restore import Restore
from tests.restore.drill import off

NAMES = {
    "ran-before": 2,
    "ran-after": 13,
    "stumbles-after": 14,
    "moved": 16,
    "cancelled": 17,
    "later": 24,
    "far": 40,
    "far-cancelled": 41,
    "far-moved": 42,
}
"""The actions of the first ten minutes, and the minute at which each is due."""

STILL_TO_RUN = {"later", "far"}
"""What neither ran nor changed after the restore point."""


class Story:
    """What happened to a drill's deployment, and the restore of its tables, of `later` to a minute later."""

    def __init__(self, drill, *kinds, later="", before=lambda _drill: None, after=lambda _drill: None):
        self.drill = drill
        self.actions = {name: drill.schedule(name, at) for name, at in NAMES.items()}
        drill.minutes(10)
        before(drill)
        self.point = drill.clock.now()
        restores = {kind: drill.restore(kind) for kind in kinds if kind != later}
        drill.minutes(1)
        restores |= {kind: drill.restore(kind) for kind in kinds if kind == later}
        after(drill)
        self.disarm(drill.scheduler.cancel(self.actions["cancelled"].id))
        self.disarm(drill.scheduler.cancel(self.actions["far-cancelled"].id))
        self.move("moved", 48)
        self.move("far-moved", 49)
        self.lost = {name: drill.schedule(name, at) for name, at in (("lost-open", 44), ("lost-ended", 3))}
        drill.minutes(9)
        self.effects = dict(drill.effects)
        self.settings = off(drill.settings)
        drill.use(self.settings)
        self.restored = {kind: restore() for kind, restore in restores.items()}

    def move(self, name, minutes):
        row = self.drill.scheduler.reschedule(self.actions[name].id, at=timedelta(minutes=minutes))
        self.disarm(row)
        self.drill.arm(row)

    def disarm(self, row):
        """Remove the timers of a row that left pending, as arm does."""
        for name in list(self.drill.backends.timers.known()):
            if name.startswith(f"acme.{row.id}."):
                self.drill.backends.timers.remove(name)

    def lose(self):
        """Delete the tables that are restored."""
        for kind in self.restored:
            boto3.client("dynamodb").delete_table(TableName=getattr(self.settings.made, f"{kind}_table"))

    def restore(self, *, reads_logs=True):
        return Restore(
            self.settings, self.drill.clock, restored_to=self.point, reads_logs=reads_logs, **self.restored
        )

    def deploy(self, *, enabled):
        """Deploy with the restored tables."""
        names = {f"{kind}_table": name for kind, name in self.restored.items()}
        self.drill.use(replace(self.settings, enabled=enabled).with_made(**names))


def name_of(row):
    """Return the name in an action's payload, or the id of a job's run."""
    return row.id if row.job else json.loads(row.payload)["name"]


def verdicts(report):
    """Return the verdicts on the doubtful actions, without runs of jobs."""
    return {name_of(row.row): row.judgement.verdict.value for row in report.doubtful if not row.row.job}
