"""Reads the stacks of a cloud assembly: the directory that ``cdk synth`` writes, by default ``cdk.out``."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from duetime.cli.failures import BadUsage
from duetime.lambdas.deploy import MANIFEST_RESOURCE
from duetime.model.manifest import unpacked

Json = Mapping[str, Any]

_NAMES = {
    "AWS::DynamoDB::Table": "TableName",
    "AWS::SQS::Queue": "QueueName",
    "AWS::Lambda::Function": "FunctionName",
    "AWS::Scheduler::ScheduleGroup": "Name",
    "AWS::Events::EventBus": "Name",
    "AWS::CloudWatch::Alarm": "AlarmName",
    "AWS::Logs::LogGroup": "LogGroupName",
    "AWS::SNS::Topic": "TopicName",
    "AWS::Cognito::UserPoolDomain": "Domain",
}
_KEPT = ("Retain", "RetainExceptOnCreate")


class Named(NamedTuple):
    """A resource with a name of its own; `is_importable` if CloudFormation may take over an existing one."""

    logical_id: str
    kind: str
    name: str
    is_importable: bool


@dataclass(frozen=True, slots=True)
class SynthesisedStack:
    """A stack's name, its entry in the assembly's manifest, and its template's resources."""

    name: str
    properties: Json
    resources: Mapping[str, Json]

    def of_type(self, kind: str) -> Sequence[Json]:
        """Return the properties of the resources of a type."""
        return [row.get("Properties", {}) for row in self.resources.values() if row["Type"] == kind]

    @property
    def kinds(self) -> frozenset[str]:
        """The types of the resources."""
        return frozenset(row["Type"] for row in self.resources.values())

    def named(self) -> Iterator[Named]:
        """Yield the resources whose name is in the template as text."""
        for logical_id, row in self.resources.items():
            name = row.get("Properties", {}).get(_NAMES.get(row["Type"], ""))
            if isinstance(name, str):
                is_table = row["Type"] == "AWS::DynamoDB::Table"
                is_importable = is_table and row.get("DeletionPolicy") in _KEPT
                yield Named(logical_id, row["Type"], name, is_importable)

    def event_triggers(self, bus: str) -> int:
        """Return the number of rules on a bus that the stack and its jobs need."""
        jobs = [
            job
            for manifest in self.of_type(MANIFEST_RESOURCE)
            if manifest["EventBus"] == bus
            for job in json.loads(unpacked(manifest["Jobs"]))
        ]
        triggers = [cadence for job in jobs for cadence in job["cadences"] if cadence.startswith("on_event ")]
        return len(triggers) + len(self.of_type("AWS::Events::Rule"))

    @property
    def buses(self) -> Sequence[str]:
        """The event buses of its jobs' triggers."""
        return sorted({manifest["EventBus"] for manifest in self.of_type(MANIFEST_RESOURCE)})

    @property
    def reserved(self) -> int:
        """The executions that its functions reserve."""
        functions = self.of_type("AWS::Lambda::Function")
        return sum(function.get("ReservedConcurrentExecutions", 0) for function in functions)

    @property
    def concurrency(self) -> int:
        """How many functions its event sources may run at once in normal operation.

        Two for a queue without a bound. Sources without a redrive policy are left out: dead letters and
        failures, which are empty in normal operation.
        """
        return sum(map(self._concurrency, self.of_type("AWS::Lambda::EventSourceMapping")))

    def _concurrency(self, source: Json) -> int:
        if "StartingPosition" in source:  # a stream
            return int(source.get("ParallelizationFactor", 1))
        queue = self.resources[source["EventSourceArn"]["Fn::GetAtt"][0]]
        if "RedrivePolicy" not in queue.get("Properties", {}):
            return 0
        return int(source.get("ScalingConfig", {}).get("MaximumConcurrency", 2))


def read_assembly(directory: Path) -> Sequence[SynthesisedStack]:
    """Return the stacks with a scheduler.

    Raises:
        BadUsage: the directory is no cloud assembly, or no stack of it has a scheduler.
    """
    try:
        artifacts = json.loads((directory / "manifest.json").read_text(encoding="utf-8"))["artifacts"]
        stacks = [
            SynthesisedStack(
                row["properties"].get("stackName", name),
                row["properties"],
                json.loads((directory / row["properties"]["templateFile"]).read_text(encoding="utf-8"))[
                    "Resources"
                ],
            )
            for name, row in artifacts.items()
            if row["type"] == "aws:cloudformation:stack"
        ]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise BadUsage(
            f"{directory} is no cloud assembly ({type(error).__name__}: {error}); run `npx cdk synth --quiet`"
            " first, or name its output with --assembly"
        ) from None
    if found := [stack for stack in stacks if MANIFEST_RESOURCE in stack.kinds]:
        return found
    raise BadUsage(f"no stack in {directory} has a scheduler; add the construct duetime.cdk.Duetime to one")
