"""The high queue of a worker: only where a type or a setting needs it."""

import pytest

from duetime.cdk import Deployment, Handlers
from duetime.cdk import scheduler as cdk_scheduler
from duetime.cost.units import pollers_of
from duetime.cost.workload import Workload
from duetime.errors import SettingsError
from duetime.model.manifest import Manifest
from duetime.settings import Settings
from tests.infra.synthesis import BILLING, ROOT, Synthesised, caller, listed, stack, synth, text
from tests.infra.test_cost import pollers

REPORTS = Handlers(app="tests.infra.apps.reports:app", worker="reports", source=ROOT, concurrency=6)


def queues(synthesised):
    return {queue["QueueName"] for queue in synthesised.of_type("AWS::SQS::Queue")}


@pytest.fixture
def with_a_high_type(monkeypatch):
    """As a bundled stack is whose worker `reports` has a high type; nothing is bundled."""

    def manifest(_self, handlers):
        high = frozenset({"write-report"} if handlers.worker == "reports" else ())
        return Manifest(handlers.worker, {}, high=high).deployed(high_priority=False)

    monkeypatch.setattr(cdk_scheduler.Duetime, "_manifest", manifest)


def test_without_a_high_type_or_the_setting_there_is_no_high_queue(synthesised):
    assert not [name for name in queues(synthesised) if "_high" in name]
    assert "DUETIME_HIGH_PRIORITY" not in str(synthesised.resources)


def test_a_worker_with_a_high_type_has_a_second_queue_and_another_worker_has_none(with_a_high_type):
    two = synth(handlers=[BILLING, REPORTS])
    assert [name for name in queues(two) if "_high" in name] == ["duetime-due-reports_high"]
    bounds = sorted(
        (two.function_names[source["FunctionName"]["Ref"]], source["ScalingConfig"]["MaximumConcurrency"])
        for source in two.of_type("AWS::Lambda::EventSourceMapping")
        if "ScalingConfig" in source
    )
    assert bounds == [("duetime-work-default", 10), ("duetime-work-reports", 6), ("duetime-work-reports", 6)]
    for name in ("arm", "dispatch", "sweep", "catch-up", "work-default", "work-reports", "undelivered"):
        assert '"reports_high"' in str(two.environment(name)["DUETIME_QUEUES"]), name


def rights_of_the_high_queue(template):
    """Return each function's SQS actions on the high queue of `reports`."""
    [high] = [
        name
        for name, part in template.resources.items()
        if part["Properties"].get("QueueName") == "duetime-due-reports_high"
    ]
    functions = {
        found["FunctionName"].removeprefix("duetime-")
        for found in template.of_type("AWS::Lambda::Function")
        if "FunctionName" in found
    }
    return {
        function: {
            action.removeprefix("sqs:")
            for statement in template.rights(function)
            if any(f"<{high}." in text(resource) for resource in listed(statement["Resource"]))
            for action in listed(statement["Action"])
        }
        for function in functions
    }


def test_only_its_worker_takes_from_a_high_queue_and_what_sends_to_due_queues_sends_to_it(with_a_high_type):
    made, scheduler = stack(handlers=[BILLING, REPORTS])
    scheduler.grant_schedule(caller(made))
    rights = rights_of_the_high_queue(Synthesised.from_stack(made))
    takers = {function for function, may in rights.items() if may & {"ReceiveMessage", "DeleteMessage"}}
    assert takers == {"work-reports"}
    assert {"ChangeMessageVisibility", "DeleteMessage", "ReceiveMessage"} <= rights["work-reports"]
    senders = {function for function, may in rights.items() if "SendMessage" in may}
    expected = {"arm", "dispatch", "sweep", "catch-up", "work-default", "work-reports", "undelivered"}
    assert senders == expected
    statements = [
        part for part in Synthesised.from_stack(made).all_statements() if "*" in listed(part["Action"])
    ]
    assert not statements


def test_the_estimate_counts_a_high_queue(with_a_high_type):
    sources = synth(handlers=[BILLING, REPORTS]).of_type("AWS::Lambda::EventSourceMapping")
    polled = [source for source in sources if "BatchSize" in source and "StartingPosition" not in source]
    work = Workload(workers=2, high_queues=1)
    assert len(polled) == work.queues
    assert sum(map(pollers, sources)) == pollers_of(work.due_queues, work.queues - work.due_queues)


def test_the_reserved_concurrency_must_suffice_for_both_queues(with_a_high_type):
    with pytest.raises(SettingsError, match="worker 'reports' handles 12 calls at once"):
        stack(handlers=[BILLING, REPORTS], deployment=Deployment(reserved_concurrency=10))


def test_the_setting_adds_a_high_queue_for_each_worker_and_callers_know():
    made, scheduler = stack(handlers=[BILLING, REPORTS], settings=Settings(high_priority=True))
    function = caller(made)
    scheduler.grant_schedule(function)
    two = Synthesised.from_stack(made)
    assert {name for name in queues(two) if name.endswith("_high")} == {
        "duetime-due-default_high",
        "duetime-due-reports_high",
    }
    [environment] = [
        found["Environment"]["Variables"]
        for found in two.of_type("AWS::Lambda::Function")
        if "DUETIME_HIGH_PRIORITY" in str(found) and "FunctionName" not in found
    ]
    assert environment["DUETIME_HIGH_PRIORITY"] == "true"
    assert two.environment("api")["DUETIME_HIGH_PRIORITY"] == "true"
    manifests = [part for part in two.resources.values() if "Manifest" in part["Properties"]]
    published = [part["Properties"]["Manifest"] for part in manifests]
    assert sum('"has_high_queue": true' in str(manifest) for manifest in published) == 2
