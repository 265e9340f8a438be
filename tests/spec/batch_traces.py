"""Traces of simulated batches and checkpoints, as TLA+ modules: what happened to one, in order."""

from dataclasses import dataclass, field

from tests.spec.job_traces import record
from tests.spec.traces import tla


@dataclass(eq=False)
class Step:
    """What happened, and what there was to see after it. Later events may show that it was another kind."""

    kind: str
    values: dict[str, object] = field(default_factory=dict)
    seen: dict[str, object] = field(default_factory=dict)

    def __str__(self):
        fields = {"kind": self.kind, **self.values, **self.seen}
        return record({name: tla(value) for name, value in fields.items()})


@dataclass(frozen=True, eq=False)
class StepTrace:
    """The life of a batch, or of an action with checkpoints; `most` has its highest numbers, by name."""

    name: str
    most: dict[str, int]
    lines: tuple[Step, ...]


def module(name, traces):
    """Return the module of some traces."""
    listed = ",\n".join(f"<<\n    {f',{chr(10)}    '.join(map(str, trace.lines))}>>" for trace in traces)
    most = {key: max(trace.most[key] for trace in traces) for key in traces[0].most}
    return "\n".join(
        (
            f"---- MODULE {name} ----",
            "EXTENDS Integers",
            *(f"Trace{key} == {0 if key == 'Members' else 1}..{number}" for key, number in most.items()),
            f"Traces == <<\n{listed}>>",
            "====\n",
        )
    )
