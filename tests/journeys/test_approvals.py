"""Approvals in simulated time: people decide once about an action that no worker runs."""

import json
from datetime import timedelta

import pytest

from duetime import App, Payload, RetryPolicy, Run, Status, manual
from duetime.actions.why import WhySources, why
from duetime.errors import HandOverEnded, InvalidArgument, NotFound, StateConflict
from duetime.model.expiry import NO_EXPIRY
from duetime.model.notification import NotificationKind, of_event
from duetime.settings import Settings
from duetime.testing import SimulatedCloud, fake_run
from tests.journeys.conftest import NOON

NOW, SECOND, MINUTE, HOUR = timedelta(0), timedelta(seconds=1), timedelta(minutes=1), timedelta(hours=1)
QUESTION = "Refund 900 € to Ann?"


class Ask(Payload):
    on_reject: str = "fail"


class Pay(Payload):
    pass


class Desk:
    """An app whose action asks a person, and whose next action pays."""

    def __init__(self, **settings):
        self.app, self.tokens, self.paid = App(), [], []
        self.app.action(retry=RetryPolicy(attempts=2, backoff=[60], jitter=0))(self._ask())
        self.app.action(self._pay())
        self.app.job(manual(), name="monthly-ask", overlap="queue_one")(self._monthly())
        self.cloud = SimulatedCloud(self.app, start=NOON, settings=Settings(**settings))
        self.manager = self.cloud.scheduler_for("acme", "ada@acme.example")

    def _ask(self):
        def ask(payload: Ask, run: Run):
            self.tokens.append(run.token)
            return run.await_approval(QUESTION, timeout=8 * HOUR, on_reject=payload.on_reject)

        return ask

    def _pay(self):
        def pay(payload: Pay, run: Run) -> None:
            self.paid.append(run.now())

        return pay

    def _monthly(self):
        async def monthly(run: Run):
            return run.await_approval(QUESTION, timeout=HOUR)

        return monthly

    @property
    def scheduler(self):
        return self.cloud.scheduler

    def requested(self, *, key=None, **payload):
        action = self.scheduler.schedule(Ask(**payload), at=NOW, concurrency_key=key)
        self.cloud.advance(seconds=1)
        return action.id

    def row(self, action_id):
        return self.scheduler.get(action_id)


@pytest.fixture
def desk():
    desk = Desk()
    yield desk
    desk.cloud.check()
    desk.cloud.close()


def test_an_approval_executes_the_action_and_what_waits_for_it(desk):
    action = desk.requested()
    desk.scheduler.schedule(Pay(), at=NOW, after=[action])
    row = desk.row(action)
    assert (row.awaits_approval, row.hand_over.question, row.status) == (True, QUESTION, Status.PROCESSING)
    desk.cloud.advance(hours=7)
    assert desk.paid == []
    done = desk.manager.approve(action, reason="the parcel is back")
    assert done.status is Status.EXECUTED
    assert json.loads(done.result) == {
        "approved": True,
        "by": "ada@acme.example",
        "reason": "the parcel is back",
    }
    assert done.attempts[-1].message == "approved by ada@acme.example: the parcel is back"
    desk.cloud.advance(minutes=1)
    assert len(desk.paid) == 1
    assert len(desk.tokens) == 1


def test_a_rejection_fails_the_action_without_a_retry_and_what_waits_for_it(desk):
    action = desk.requested()
    pay = desk.scheduler.schedule(Pay(), at=NOW, after=[action])
    row = desk.manager.reject(action, reason="no receipt")
    assert (row.status, row.result) == (Status.FAILED, None)
    assert row.failure_reason == "rejected by ada@acme.example: no receipt"
    desk.cloud.advance(hours=10)
    assert (desk.row(pay.id).status, desk.paid, len(desk.tokens)) == (Status.FAILED, [], 1)


def test_a_rejection_executes_the_action_if_its_handler_chose_so(desk):
    action = desk.requested(on_reject="execute")
    desk.scheduler.schedule(Pay(), at=NOW, after=[action])
    row = desk.manager.reject(action, reason="no receipt")
    assert row.status is Status.EXECUTED
    assert json.loads(row.result) == {"approved": False, "by": "ada@acme.example", "reason": "no receipt"}
    desk.cloud.advance(minutes=1)
    assert len(desk.paid) == 1


@pytest.mark.parametrize("first", ["approve", "reject"])
def test_a_second_decision_changes_nothing_and_names_the_first(desk, first):
    action = desk.requested()
    getattr(desk.manager, first)(action, reason="seen")
    row = desk.row(action)
    expected = rf"ended at .*, {first}e?d by ada@acme.example: seen\. The action is"
    for second in (desk.scheduler.approve, desk.scheduler.reject):
        with pytest.raises(HandOverEnded, match=expected):
            second(action, reason="late")
    assert desk.row(action) == row


def test_a_time_out_fails_the_attempt_and_the_policy_asks_again(desk):
    action = desk.requested()
    desk.cloud.advance(8 * HOUR - SECOND)
    with pytest.raises(HandOverEnded, match="its time-out has passed"):
        desk.manager.approve(action)
    desk.cloud.advance(seconds=50)
    with pytest.raises(HandOverEnded, match=r"no decision came in time\. The action is pending"):
        desk.manager.approve(action)
    desk.cloud.advance(minutes=5)
    row = desk.row(action)
    assert (row.awaits_approval, len(desk.tokens), row.recoveries) == (True, 2, 0)
    assert row.attempts[1].message == "its approval has timed out: no decision came in time"
    assert desk.manager.approve(action).status is Status.EXECUTED


def test_without_any_decision_the_action_fails(desk):
    action = desk.requested()
    desk.cloud.advance(hours=17)
    row = desk.row(action)
    assert (row.status, row.failure_reason) == (
        Status.FAILED,
        "its approval has timed out: no decision came in time",
    )
    with pytest.raises(HandOverEnded):
        desk.manager.reject(action, reason="late")


def test_a_cancel_ends_the_approval_at_once(desk):
    action = desk.requested(key="refunds")
    assert desk.scheduler.cancel(action).status is Status.CANCELLED
    with pytest.raises(HandOverEnded, match="The action is cancelled"):
        desk.manager.approve(action)


def test_no_token_ends_an_approval(desk):
    action = desk.requested()
    row = desk.row(action)
    for end in (
        desk.scheduler.complete,
        desk.scheduler.heartbeat,
        lambda token: desk.scheduler.fail(token, "no"),
    ):
        with pytest.raises(InvalidArgument, match=r"waits for an approval, which no token ends; call"):
            end(desk.tokens[0])
    assert desk.row(action) == row


def test_only_what_waits_for_an_approval_can_be_decided(desk):
    action = desk.scheduler.schedule(Pay(), at=HOUR)
    for decide in (desk.scheduler.approve, desk.scheduler.reject):
        with pytest.raises(StateConflict, match="one that waits for an approval"):
            decide(action.id, reason="why")
        with pytest.raises(NotFound, match="no action"):
            decide("019ca945-0a00-7506-9e45-2137f8357eff", reason="why")
    assert desk.row(action.id).status is Status.PENDING


def test_another_tenant_finds_no_approval(desk):
    action = desk.requested()
    with pytest.raises(NotFound, match="no action"):
        desk.cloud.scheduler_for("bolt", "clerk").approve(action)
    assert desk.row(action).awaits_approval


def test_a_hand_over_that_needs_no_approval_cannot_be_approved_after_one_that_did():
    app = App()

    @app.action(retry=RetryPolicy(attempts=2, backoff=[60], jitter=0))
    def ask(payload: Ask, run: Run):
        if run.attempt == 1:
            return run.await_approval(QUESTION, timeout=MINUTE, on_reject="execute")
        return run.hand_over(timeout=HOUR)

    cloud = SimulatedCloud(app, start=NOON)
    action = cloud.scheduler.schedule(Ask(), at=NOW)
    cloud.advance(minutes=5)
    row = cloud.scheduler.get(action.id)
    assert (
        row.is_handed_over,
        row.awaits_approval,
        row.hand_over.question,
        row.hand_over.decision_terms,
    ) == (
        True,
        False,
        None,
        None,
    )
    with pytest.raises(StateConflict, match=r"cannot .* action "):
        cloud.scheduler.approve(action.id)
    cloud.close()


def test_a_decision_during_the_run_that_follows_a_time_out_is_refused_as_late():
    app, refused = App(), []

    @app.action(retry=RetryPolicy(attempts=2, backoff=[60], jitter=0))
    def ask(payload: Ask, run: Run):
        if run.attempt == 1:
            return run.await_approval(QUESTION, timeout=MINUTE)
        for decide in (cloud.scheduler.approve, cloud.scheduler.reject):
            with pytest.raises(HandOverEnded, match="a later run has begun") as error:
                decide(run.id, reason="late")
            refused.append(error.value)
        return None

    cloud = SimulatedCloud(app, start=NOON)
    action = cloud.scheduler.schedule(Ask(), at=NOW)
    cloud.advance(minutes=5)
    row = cloud.scheduler.get(action.id)
    assert (len(refused), row.status, row.result) == (2, Status.EXECUTED, None)
    cloud.close()


def test_the_run_of_a_job_can_wait_for_an_approval(desk):
    run = desk.scheduler.jobs.trigger("monthly-ask")
    desk.cloud.advance(seconds=1)
    desk.scheduler.approve(run.id)
    desk.cloud.advance(seconds=5)
    job = desk.scheduler.jobs.get("monthly-ask")
    assert (job.running, job.tally.executed, desk.row(run.id).status) == (None, 1, Status.EXECUTED)


@pytest.mark.parametrize(
    ("made", "problem"),
    [
        ({"question": " "}, "question is ' '; allowed are 1 to 500 printable"),
        ({"question": "x" * 501}, "allowed are 1 to 500 printable"),
        ({"question": "a\nb"}, "allowed are 1 to 500 printable"),
        ({"question": None}, "question is None"),
        ({"timeout": SECOND}, "timeout is 0:00:01; allowed"),
        ({"on_reject": "ignore"}, "on_reject is 'ignore'; allowed are fail and execute"),
    ],
)
def test_a_bad_approval_is_refused(made, problem):
    given = {"question": QUESTION, "timeout": HOUR, **made}
    with pytest.raises(InvalidArgument, match=problem):
        fake_run().await_approval(given.pop("question"), **given)


@pytest.mark.parametrize("reason", ["", " ", "x" * 501, "a\nb"])
def test_a_bad_reason_changes_nothing(desk, reason):
    action = desk.requested()
    row = desk.row(action)
    with pytest.raises(InvalidArgument, match="allowed are 1 to 500 printable characters"):
        desk.manager.reject(action, reason=reason)
    if reason.strip():
        with pytest.raises(InvalidArgument, match="an approval needs none"):
            desk.manager.approve(action, reason=reason)
    assert desk.row(action) == row


def test_an_approval_without_a_reason_has_none_in_its_result(desk):
    done = desk.manager.approve(desk.requested())
    assert json.loads(done.result)["reason"] is None
    assert done.attempts[-1].message == "approved by ada@acme.example"


def test_why_names_the_question(desk):
    sources = WhySources(
        store=None,
        settings=Settings(),
        hold_of=lambda _: None,
        skip_of=lambda _: None,
        job_of=lambda _: None,
        expiry_of=lambda _: NO_EXPIRY,
    )
    row = desk.row(desk.requested())
    assert why(row, desk.cloud.clock.now(), sources).sentence == (
        f"It has waited for an approval since 2026-03-01T12:00:00Z: {QUESTION} Without a decision, it times"
        " out at 2026-03-01T20:00:00Z."
    )


def test_a_request_for_an_approval_is_published_by_default_and_makes_a_notification(desk):
    action = desk.requested()
    desk.cloud.advance(seconds=1)
    [event] = [one for one in desk.cloud.events() if one["detail-type"].startswith("action.")]
    assert event["detail-type"] == "action.approval_requested"
    [notification] = of_event(event["detail"])
    assert notification.kind is NotificationKind.APPROVAL_REQUESTED
    assert {name: notification.facts[name] for name in ("id", "question", "times_out_at")} == {
        "id": action,
        "question": QUESTION,
        "times_out_at": "2026-03-01T20:00:00.000000Z",
    }
    desk.manager.reject(action, reason="no receipt")
    desk.cloud.advance(seconds=1)
    failed = desk.cloud.events()[-1]["detail"]
    assert (failed["type"], "question" in failed["action"]) == ("action.failed", False)


def test_a_hand_over_to_a_party_makes_no_notification():
    app = App()

    @app.action
    def lend(payload: Ask, run: Run):
        return run.hand_over(timeout=HOUR)

    cloud = SimulatedCloud(app, start=NOON)
    cloud.scheduler.schedule(Ask(), at=NOW)
    cloud.advance(seconds=5)
    assert not cloud.events()
    cloud.close()
