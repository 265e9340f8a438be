"""Jobs that events start: each event once, for its tenant, and none without a trace in simulated time."""

import pytest

from duetime import App, Fatal, Payload, Run, on_event
from duetime.errors import InvalidArgument, InvalidPayload, NotFound
from duetime.model.action import Status
from duetime.model.new_action import IN_ROW_LIMIT, PAYLOAD_LIMIT
from duetime.testing import SimulatedCloud
from tests.journeys.recorded_job import MIDNIGHT, MINUTE, SECOND, RecordedJob


class Uploaded(Payload):
    document_id: int
    tenant_id: str = ""


class Library:
    """An app that indexes what is uploaded."""

    def __init__(self, cadence=None, **options):
        self.app, self.indexed = App(), []
        cadence = cadence or on_event("kb", "Uploaded", tenant="detail.tenant_id")

        @self.app.job(cadence, name="kb-index", **options)
        def index(uploaded: Uploaded, run: Run) -> None:
            self.indexed.append((uploaded.document_id, run.tenant_id))

        self.cloud = SimulatedCloud(self.app, start=MIDNIGHT)

    def upload(self, number, tenant_id="acme", **more):
        self.cloud.send_event("kb", "Uploaded", {"document_id": number, "tenant_id": tenant_id}, **more)

    @property
    def rows(self):
        return [action for action in self.cloud.actions() if action.job == "kb-index"]


def test_a_repeated_event_runs_its_job_once_with_its_typed_payload():
    library = Library()
    for _ in range(3):
        library.upload(7, id="e-7")
    library.cloud.advance(minutes=1)
    library.upload(8, id="e-8")
    assert library.indexed == [(7, "acme"), (8, "acme")]
    (first, _) = library.rows
    assert (first.status, first.trigger, first.cadence) == (
        Status.EXECUTED,
        "event",
        library.cloud.jobs.get("kb-index").cadence_set.triggers[0].name,
    )
    assert first.created_by == "event:kb"
    assert first.id.startswith("kb-index.e20260303T000000Z.")


def test_a_repeated_event_hours_later_does_not_run_its_job_again():
    library = Library()
    event = {
        "id": "e-1",
        "time": "2026-03-03T00:00:00Z",
        "source": "kb",
        "detail-type": "Uploaded",
        "detail": {"document_id": 7, "tenant_id": "acme"},
    }
    for _ in range(2):
        library.cloud.memory.event(event)
        library.cloud.advance(hours=5)
    assert library.indexed == [(7, "acme")]


def test_an_event_of_another_source_or_type_starts_nothing():
    library = Library(on_event("kb", "Uploaded", match={"document_id": [{"numeric": [">", 5]}]}))
    library.cloud.send_event("crm", "Uploaded", {"document_id": 7})
    library.cloud.send_event("kb", "Removed", {"document_id": 7})
    library.upload(3)
    assert library.rows == []
    library.upload(7)
    assert library.indexed == [(7, "system")]


def test_an_invalid_event_payload_fails_at_once_with_the_reason():
    library = Library(on_event("kb", "Uploaded"))
    library.cloud.send_event("kb", "Uploaded", {"document_id": "seven"})
    library.cloud.advance(hours=1)
    (row,) = library.rows
    assert (row.status, row.attempt) == (Status.FAILED, 1)
    assert "document_id: " in row.failure_reason
    assert library.cloud.jobs.get("kb-index").tally.failed == 1


def test_a_run_is_its_events_tenants_and_no_other_tenant_sees_it():
    library = Library()
    library.upload(7, "acme")
    library.upload(8, "globex")
    assert library.indexed == [(7, "acme"), (8, "globex")]
    acme, globex = sorted(library.rows, key=lambda row: row.tenant_id)
    assert (acme.tenant_id, globex.tenant_id) == ("acme", "globex")
    other = library.cloud.scheduler_for("globex")
    assert other.get(globex.id).status is Status.EXECUTED
    for call in (other.get, other.cancel, other.redrive):
        with pytest.raises(NotFound, match="no action"):
            call(acme.id)
    assert acme.id not in {item.id for item in other.jobs.history("kb-index")}


def test_a_failed_run_of_a_tenant_is_driven_again_by_that_tenant():
    app, seen = App(), []

    @app.job(on_event("kb", "Uploaded", tenant="detail.tenant_id"), name="kb-index")
    def index(uploaded: Uploaded, run: Run) -> None:
        seen.append(run.tenant_id)
        if len(seen) == 1:
            raise Fatal("the index is full")

    cloud = SimulatedCloud(app, start=MIDNIGHT)
    cloud.send_event("kb", "Uploaded", {"document_id": 7, "tenant_id": "acme"})
    (row,) = cloud.actions()
    assert row.status is Status.FAILED
    cloud.scheduler.redrive(row.id)
    cloud.advance(seconds=1)
    assert seen == ["acme", "acme"]
    assert cloud.scheduler.get(row.id).status is Status.EXECUTED


@pytest.mark.parametrize("tenant_id", ["", "two words", "a#b", "system"])
def test_an_event_that_names_no_tenant_is_the_systems(tenant_id):
    library = Library()
    library.upload(7, tenant_id)
    assert library.indexed == [(7, "system")]


def test_an_event_without_a_tenant_is_rejected_and_recorded_if_the_job_requires_one():
    library = Library(on_event("kb", "Uploaded", tenant="detail.tenant_id", no_tenant="refuse"))
    library.upload(7, "")
    library.cloud.advance(minutes=5)
    assert library.indexed == []
    (row,) = library.rows
    assert (row.status, row.skip_reason, row.tenant_id) == (Status.SKIPPED, "refused", "system")
    assert row.note.startswith("the event names no tenant at detail.tenant_id")
    library.upload(8, "acme")
    assert library.indexed == [(8, "acme")]


def test_an_event_of_a_paused_job_is_recorded_as_skipped():
    library = Library()
    library.cloud.advance(seconds=1)
    library.cloud.jobs.pause("kb-index", reason="the index is rebuilt")
    library.cloud.advance(seconds=2)
    library.upload(7)
    assert library.indexed == []
    (row,) = library.rows
    assert (row.status, row.skip_reason) == (Status.SKIPPED, "paused")
    assert row.note == "paused by simulation: the index is rebuilt"


def test_an_event_of_a_paused_trigger_is_recorded_as_skipped_and_the_others_run():
    recorded = RecordedJob(on_event("kb", "Uploaded"), on_event("kb", "Removed"))
    name = next(trigger.name for trigger in recorded.job.cadence_set.triggers if trigger.type == "Removed")
    recorded.cloud.advance(seconds=1)
    recorded.cloud.jobs.pause(recorded.name, cadence=name)
    recorded.cloud.advance(hours=2)
    recorded.cloud.send_event("kb", "Uploaded", {})
    recorded.cloud.send_event("kb", "Removed", {})
    assert [row.cadence for row in recorded.rows if row.status is Status.EXECUTED] == ["OnEvent_kb_Uploaded"]
    assert [reason for _, reason in recorded.skipped()] == ["paused"]


def test_an_event_of_a_dropped_job_starts_nothing():
    library = Library()
    library.cloud.deploy(App())
    library.upload(7)
    assert library.rows == []


def test_events_are_not_lost_while_the_job_is_busy():
    recorded = RecordedJob(on_event("kb", "Uploaded"), lasts=[MINUTE])
    recorded.stop_if_cancel_requested = lambda _run: [
        recorded.cloud.send_event("kb", "Uploaded", {}) for _ in range(5)
    ]
    recorded.cloud.send_event("kb", "Uploaded", {})
    recorded.cloud.advance(minutes=5)
    assert len(recorded.ended) == 6
    assert recorded.job.running is None


def test_events_of_a_busy_job_with_skip_are_recorded():
    recorded = RecordedJob(on_event("kb", "Uploaded"), overlap="skip", lasts=[MINUTE])
    recorded.stop_if_cancel_requested = lambda _run: [
        recorded.cloud.send_event("kb", "Uploaded", {}) for _ in range(5)
    ]
    recorded.cloud.send_event("kb", "Uploaded", {})
    assert len(recorded.ended) == 1
    assert [reason for _, reason in recorded.skipped()] == ["overlap"] * 5


def test_one_job_starts_another_with_an_event():
    app, done = App(), []

    @app.job(on_event("kb", "Uploaded"), name="kb-index")
    def index(uploaded: Uploaded, run: Run) -> None:
        done.append(("index", uploaded.document_id))
        cloud.send_event("kb", "Indexed", {"document_id": uploaded.document_id}, id=run.idempotency_key)

    @app.job(on_event("kb", "Indexed"), name="kb-announce")
    def announce(uploaded: Uploaded) -> None:
        done.append(("announce", uploaded.document_id))

    cloud = SimulatedCloud(app, start=MIDNIGHT)
    cloud.send_event("kb", "Uploaded", {"document_id": 7})
    cloud.advance(seconds=1)
    assert done == [("index", 7), ("announce", 7)]


def test_an_event_runs_at_the_moment_that_it_comes():
    recorded = RecordedJob(on_event("kb", "Uploaded"))
    recorded.cloud.advance(seconds=17)
    recorded.cloud.send_event("kb", "Uploaded", {})
    assert recorded.runs == [("event", MIDNIGHT + 17 * SECOND, MIDNIGHT + 17 * SECOND)]


def test_an_event_too_large_for_a_row_or_without_a_time_is_rejected():
    library = Library()
    with pytest.raises(InvalidPayload, match="bytes"):
        library.cloud.send_event("kb", "Uploaded", {"document_id": 7, "text": "x" * 500_000})
    with pytest.raises(InvalidArgument, match="is no time"):
        library.cloud.memory.event(
            {"id": "1", "source": "kb", "detail-type": "Uploaded", "detail": {"document_id": 7}}
        )
    assert library.rows == []


@pytest.mark.parametrize(
    ("size", "is_offloaded"), [(IN_ROW_LIMIT, False), (IN_ROW_LIMIT + 1, True), (PAYLOAD_LIMIT, True)]
)
def test_a_large_event_reaches_its_job(size, is_offloaded):
    class Text(Payload):
        text: str

    app, sizes = App(), []

    @app.job(on_event("kb", "Uploaded"), name="kb-index")
    def index(text: Text) -> None:
        sizes.append(len(text.to_json()))

    cloud = SimulatedCloud(app, start=MIDNIGHT)
    cloud.send_event("kb", "Uploaded", {"text": "x" * (size - len(Text(text="").to_json()))})
    assert sizes == [size]
    assert [bool(row.payload_size) for row in cloud.actions() if row.job == "kb-index"] == [is_offloaded]
