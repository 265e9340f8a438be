"""Traces of a simulated job, as a TLA+ module: what planners, workers and operators did, in order."""

from dataclasses import dataclass

from tests.spec.traces import tla

NO_ID = (0, 0)


@dataclass(frozen=True)
class JobLine:
    """What happened.

    `values` has what the process used. If it wrote, it also has the job after the write, the rows that have
    changed, and the begins and ends of new spans.
    """

    at: int
    kind: str
    values: dict[str, object]

    def __str__(self):
        fields = {"at": tla(self.at), "kind": tla(self.kind)}
        fields |= {name: value_of(name, value) for name, value in self.values.items()}
        return record(fields)


def value_of(name, value):
    if name == "job":
        return record({key: job_value(key, part) for key, part in value.items()})
    if name == "rows":
        return function({tla(run): tla(row) for run, row in value.items()})
    if name == "spans":
        return set_of(value)
    return tla(value)


def job_value(name, value):
    if name == "times":
        return set_of(value)
    if name == "ends":
        return function({tla(version): tla(end) for version, end in value.items()})
    if name == "paused":
        return record({key: tla(part) for key, part in value.items()})
    return tla(value)


def record(fields):
    return f"[{', '.join(f'{name} |-> {text}' for name, text in fields.items())}]"


def set_of(values):
    return f"{{{', '.join(map(tla, sorted(values)))}}}"


def function(items):
    return " @@ ".join(f"({key} :> {value})" for key, value in items.items()) or "<<>>"


@dataclass(frozen=True, eq=False)
class JobTrace:
    """One job's life."""

    name: str
    skew: int
    grace: int
    workers: int
    planners: int
    lines: tuple[JobLine, ...]


def module(traces):
    """Return the module of some traces under one clock skew."""
    listed = ",\n".join(f"<<\n    {f',{chr(10)}    '.join(map(str, trace.lines))}>>" for trace in traces)
    first = traces[0]
    return "\n".join(
        (
            "---- MODULE JobTraces ----",
            "EXTENDS Integers, TLC",
            f"TraceSkew == {first.skew}",
            f"TraceGrace == {first.grace}",
            f"TraceWorkers == 1..{max(1, *(trace.workers for trace in traces))}",
            f"TracePlanners == 1..{max(1, *(trace.planners for trace in traces))}",
            f"Traces == <<\n{listed}>>",
            "====\n",
        )
    )
