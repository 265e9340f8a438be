"""A payload's type changes between schedule and run."""
# ruff: noqa: ARG003, PLR0917 - an upcast is given more than each needs, and a journey its fixtures

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from duetime import App, Fatal, Payload, RetryPolicy, Run, Status, daily, every
from duetime.errors import MESSAGE_LIMIT
from duetime.jobs.register import Registration
from duetime.ports.wakeups import Delivery
from duetime.settings import Settings
from duetime.testing import SimulatedCloud
from duetime.wakeups.due_messages import message_of
from tests.journeys.conftest import NOON
from tests.journeys.discounts import Broken, Careless, DiscountV1, DiscountV2, DiscountV3, Lenient
from tests.journeys.routes import publish_route

SOON = timedelta(minutes=2)


@pytest.fixture
def given():
    """The payloads that handlers were given."""
    return []


@pytest.fixture
def reads(given):
    """Makes an app whose handler takes that version."""

    def of(payload_type, *, attempts=3, fails=False):
        def handle(payload, run: Run) -> None:
            given.append(payload)
            if fails:
                raise Fatal("the bank is closed")

        handle.__annotations__["payload"] = payload_type
        app = App()
        app.action(retry=RetryPolicy(attempts=attempts, backoff=60, jitter=0))(handle)
        return app

    return of


@pytest.fixture(params=["eventbridge", "wheel"])
def cloud_of(request):
    """Every journey is made with either kind of timers."""
    return lambda app: SimulatedCloud(app, start=NOON, settings=Settings(timers=request.param))


@pytest.mark.parametrize(
    ("present", "becomes"),
    [
        (DiscountV2, DiscountV2(share=0.2)),
        (DiscountV3, DiscountV3(share=0.2, currency="EUR")),
        (Lenient, Lenient(percent=20)),
    ],
)
@pytest.mark.parametrize("span", [timedelta(minutes=1), timedelta(days=40)])
def test_an_action_scheduled_before_a_deploy_runs_after_it(cloud_of, reads, given, present, becomes, span):
    cloud = cloud_of(reads(DiscountV1))
    action = cloud.scheduler.schedule(DiscountV1(percent=20), at=span)
    cloud.advance(seconds=30)
    cloud.deploy(reads(present))
    cloud.advance(span)
    assert cloud.scheduler.get(action.id).status is Status.EXECUTED
    assert given == [becomes]


def test_a_large_payload_is_brought_up_too(cloud_of, given):
    class LetterV1(Payload, name="letter"):
        body: str

    class LetterV2(Payload, name="letter", version=2):
        text: str

        @classmethod
        def upcast(cls, written: dict[str, Any], version: int) -> dict[str, Any]:
            return {"text": written["body"]}

    app, cloud = App(), cloud_of(App())

    @app.action
    def post(letter: LetterV2) -> None:
        given.append(len(letter.text))

    cloud.deploy(app)
    assert cloud.scheduler.schedule(LetterV1(body="x" * 50_000), at=SOON).payload_size
    cloud.advance(SOON)
    assert given == [50_000]


def test_a_retry_after_a_deploy_reads_a_payload_that_the_first_attempt_could_not(cloud_of, reads, given):
    old = App()

    @old.action(retry=RetryPolicy(attempts=2, backoff=600, jitter=0))
    def handle(payload: DiscountV1) -> None:
        raise ConnectionError("the bank did not answer")

    cloud = cloud_of(old)
    action = cloud.scheduler.schedule(DiscountV1(percent=20), at=SOON)
    cloud.advance(SOON)
    cloud.deploy(reads(DiscountV2))
    cloud.advance(minutes=15)
    assert [attempt.ending for attempt in cloud.scheduler.get(action.id).attempts] == ["failed", "executed"]
    assert given == [DiscountV2(share=0.2)]


def test_an_old_payload_that_the_model_rejects_fails_at_once_and_names_both_versions(cloud_of, reads, given):
    cloud = cloud_of(reads(Careless))
    action = cloud.scheduler.schedule(DiscountV1(percent=20), at=SOON)
    cloud.advance(hours=1)
    failed = cloud.scheduler.get(action.id)
    assert (failed.status, failed.attempt, given) == (Status.FAILED, 1, [])
    assert "written in version 1, read as version 2: share: Field required" in failed.failure_reason


def test_an_upcast_that_raises_fails_the_action_at_once_with_its_message_cut(cloud_of, reads, given):
    cloud = cloud_of(reads(Broken))
    action = cloud.scheduler.schedule(DiscountV1(percent=20), at=SOON)
    cloud.advance(hours=1)
    failed = cloud.scheduler.get(action.id)
    assert (failed.status, failed.attempt, given) == (Status.FAILED, 1, [])
    assert "its upcast raised LookupError: there is no share for xxx" in failed.failure_reason
    assert len(failed.failure_reason) <= MESSAGE_LIMIT


def test_a_failed_action_is_redriven_after_a_deploy_that_reads_its_version(cloud_of, reads, given):
    cloud = cloud_of(reads(Careless))
    action = cloud.scheduler.schedule(DiscountV1(percent=20), at=SOON)
    cloud.advance(hours=1)
    cloud.deploy(reads(DiscountV2))
    cloud.scheduler.redrive(action.id)
    cloud.advance(minutes=1)
    assert cloud.scheduler.get(action.id).status is Status.EXECUTED
    assert given == [DiscountV2(share=0.2)]


def test_an_old_failed_action_is_redriven_in_its_stored_version(cloud_of, reads, given):
    cloud = cloud_of(reads(DiscountV1, fails=True))
    action = cloud.scheduler.schedule(DiscountV1(percent=20), at=SOON)
    cloud.advance(days=20)
    cloud.deploy(reads(DiscountV3))
    cloud.scheduler.redrive(action.id)
    cloud.advance(minutes=1)
    assert given == [DiscountV1(percent=20), DiscountV3(share=0.2, currency="EUR")]


class TestAWorkerThatIsBehind:
    @pytest.fixture
    def cloud(self, cloud_of, reads):
        """It reads the first version still; that the second is deployed is published already."""
        cloud = cloud_of(reads(DiscountV1, attempts=1))
        publish_route(cloud.memory, "discount", 2)
        return cloud

    def test_leaves_a_newer_payload_for_the_newer_worker(self, cloud, reads, given):
        action = cloud.scheduler.schedule(DiscountV2(share=0.2), at=SOON)
        cloud.advance(minutes=20)
        waiting = cloud.scheduler.get(action.id)
        assert (waiting.status, waiting.attempt, given) == (Status.PENDING, 0, [])
        cloud.deploy(reads(DiscountV2))
        cloud.advance(minutes=1)
        ran = cloud.scheduler.get(action.id)
        assert (ran.status, ran.attempt, given) == (Status.EXECUTED, 1, [DiscountV2(share=0.2)])

    def test_continues_with_the_documents_that_it_can_read(self, cloud, given):
        cloud.scheduler.schedule(DiscountV1(percent=20), at=SOON)
        cloud.advance(SOON)
        assert given == [DiscountV1(percent=20)]

    def test_puts_off_a_newer_payload_that_its_message_did_not_name(self, cloud, reads, given):
        action = cloud.scheduler.schedule(DiscountV2(share=0.2), at=timedelta(0))
        message = replace(message_of(action), payload_version=1)
        for receipt in ("first", "second"):
            cloud.memory.run(Delivery(message, cloud.now, receipt))
        waiting = cloud.scheduler.get(action.id)
        assert (waiting.status, waiting.attempt, given) == (Status.PENDING, 1, [])
        assert waiting.attempts[0].message == "its payload is of version 2: it waits for a newer worker"
        assert waiting.due_at == cloud.now + timedelta(seconds=60)
        cloud.advance(minutes=20)
        assert cloud.scheduler.get(action.id).attempt == 1
        cloud.deploy(reads(DiscountV2))
        cloud.advance(minutes=1)
        ran = cloud.scheduler.get(action.id)
        assert (ran.status, ran.attempt, given) == (Status.EXECUTED, 2, [DiscountV2(share=0.2)])

    def test_fails_at_once_if_no_worker_reads_the_payload(self, cloud_of, reads, given):
        cloud = cloud_of(reads(DiscountV1))
        action = cloud.scheduler.schedule(DiscountV3(share=0.2, currency="EUR"), at=SOON)
        cloud.advance(SOON)
        failed = cloud.scheduler.get(action.id)
        assert (failed.status, failed.attempt, given) == (Status.FAILED, 1, [])
        assert (
            "its payload is of version 3, and no deployed worker reads more than 1" in failed.failure_reason
        )
        cloud.deploy(reads(DiscountV3))
        cloud.scheduler.redrive(action.id)
        cloud.advance(minutes=1)
        assert given == [DiscountV3(share=0.2, currency="EUR")]


class TestAJob:
    def test_an_occurrence_that_was_planned_before_a_deploy_has_its_planned_payload(self, cloud_of, given):
        old, new = App(), App()

        @old.job(every(minutes=1), name="give-discounts", payload=DiscountV1(percent=20))
        def give_old(payload: DiscountV1) -> None:
            given.append(payload)
            raise ConnectionError("the bank did not answer")

        @new.job(every(minutes=1), name="give-discounts", payload=DiscountV2(share=0.5))
        def give_new(payload: DiscountV2) -> None:
            given.append(payload)

        cloud = cloud_of(old)
        cloud.advance(minutes=1)
        assert given == [DiscountV1(percent=20)]
        cloud.deploy(new)
        cloud.advance(minutes=10)
        assert given[1:3] == [DiscountV2(share=0.2), DiscountV2(share=0.5)]

    def test_triggered_by_a_caller_has_the_callers_payload_and_version(self, cloud_of, given):
        old, new = App(), App()

        @old.action
        def give_old(payload: DiscountV1) -> None: ...

        @new.action
        def give_new(payload: DiscountV2) -> None:
            given.append(payload)

        cloud = cloud_of(old)
        cloud.jobs.register(
            Registration(name="acme-discounts", handler=DiscountV1(percent=20), cadences=[daily("03:00")])
        )
        cloud.deploy(new)
        cloud.jobs.trigger("acme-discounts", payload=DiscountV2(share=0.7))
        cloud.advance(minutes=1)
        cloud.jobs.trigger("acme-discounts")
        cloud.advance(minutes=1)
        assert given == [DiscountV2(share=0.7), DiscountV2(share=0.2)]

    def test_a_run_without_a_payload_parameter_ignores_the_payload(self, cloud_of, given):
        old, new = App(), App()

        @old.job(every(minutes=1), name="give-discounts", payload=DiscountV2(share=0.2))
        def give_old(payload: DiscountV2) -> None:
            raise ConnectionError("the bank did not answer")

        @new.job(every(minutes=1), name="give-discounts")
        def give_new(run: Run) -> None:
            given.append(run.attempt)

        cloud = cloud_of(old)
        cloud.advance(minutes=1)
        cloud.deploy(new)
        cloud.advance(minutes=5)
        assert given[0] == 2
