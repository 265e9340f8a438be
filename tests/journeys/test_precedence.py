"""Which of several rules wins: each row of the tables in docs/lifecycle.md as a story in simulated time."""

import re
from contextlib import suppress
from pathlib import Path

import pytest

from duetime import App, Continue, RetryPolicy, Status, every
from duetime.errors import HandOverEnded
from duetime.jobs.register import Registration
from duetime.testing import SimulatedCloud
from tests.journeys.conftest import NOON
from tests.journeys.scripted_action import (
    HOUR,
    MINUTE,
    ONCE,
    PATIENT,
    ScriptedAction,
    Ship,
    after_a_cancel,
    commits_then,
    fails,
    hands_over,
    hands_over_with_heartbeats,
    returns,
    says_fatal,
    says_retry,
    stops,
)

PAGE = Path(__file__).parents[2] / "docs/lifecycle.md"


def commit():
    for does in (fails, says_fatal, after_a_cancel(fails), stops):
        assert ScriptedAction(commits_then(does), ONCE).ends() == ("executed", 1)
    assert ScriptedAction(after_a_cancel(commits_then(returns))).ends() == ("executed", 1)


def roll_over_with_a_cancel():
    scripted = ScriptedAction(returns, version=2)
    scripted.rolls_over()
    claim = scripted.store.claim

    def claimed_and_cancelled(ref, terms):
        won = claim(ref, terms)
        scripted.cancel()
        return won

    scripted.store.claim = claimed_and_cancelled
    scripted.delivers()
    assert scripted.ends() == ("failed", 0)


def roll_over():
    hasty = RetryPolicy(attempts=1, give_up_after=1)
    scripted = ScriptedAction(returns, hasty, version=2, max_recoveries=0)
    scripted.rolls_over()
    scripted.has_died(times=9)
    scripted.delivers()
    assert scripted.waits() == ("pending", 0, MINUTE)
    assert scripted.row.attempt == 1


def too_many_recoveries():
    scripted = ScriptedAction(returns, max_recoveries=2)
    scripted.has_died(times=3)
    assert scripted.ends() == ("failed", 0)
    assert scripted.row.failure_reason == "Fatal: its worker died 3 times in the middle of a run"


def stopping():
    assert ScriptedAction(after_a_cancel(stops)).ends() == ("cancelled", 1)
    assert ScriptedAction(after_a_cancel(stops), ONCE).ends() == ("cancelled", 1)


def returning():
    def is_late(scripted, run):
        run.clock.wait_until(run.deadline + MINUTE)

    assert ScriptedAction(after_a_cancel(returns)).ends() == ("executed", 1)
    assert ScriptedAction(is_late).ends() == ("executed", 1)


def continuing():
    def goes_on(_scripted, run):
        done = run.last_checkpoint or 0
        if done < 3:
            run.checkpoint(done + 1)
            raise Continue

    scripted = ScriptedAction(goes_on, RetryPolicy(attempts=1, give_up_after=1))
    assert (*scripted.ends(), scripted.row.continued) == ("executed", 4, 3)
    status, _ = ScriptedAction(after_a_cancel(goes_on)).ends()
    assert status == "cancelled"


def handing_over():
    def is_late_and_hands_over(scripted, run):
        run.clock.wait_until(run.deadline + MINUTE)
        return hands_over(scripted, run)

    for does in (is_late_and_hands_over, after_a_cancel(hands_over_with_heartbeats)):
        scripted = ScriptedAction(does, RetryPolicy(attempts=1, give_up_after=1))
        assert scripted.ends() == ("processing", 1)
        assert scripted.row.is_handed_over
    assert ScriptedAction(after_a_cancel(hands_over)).ends() == ("cancelled", 1)
    assert ScriptedAction(commits_then(hands_over)).ends() == ("executed", 1)


def handed_over_after(does, **policy):
    scripted = ScriptedAction(does, RetryPolicy(**{"attempts": 3, "backoff": 600, "jitter": 0} | policy))
    assert scripted.ends() == ("processing", 1)
    return scripted


def completing():
    scripted = handed_over_after(hands_over_with_heartbeats, attempts=1, give_up_after=1)
    scripted.cancel()
    scripted.cloud.advance(minutes=4)
    scripted.cloud.scheduler.complete(scripted.tokens[0])
    with pytest.raises(HandOverEnded):
        scripted.cloud.scheduler.fail(scripted.tokens[0], "too late")
    scripted.cloud.advance(hours=2)
    assert scripted.ends() == ("executed", 1)


def cancelling_a_hand_over():
    scripted = handed_over_after(hands_over)
    assert scripted.cloud.scheduler.cancel(scripted.action.id).status is Status.CANCELLED
    with pytest.raises(HandOverEnded):
        scripted.cloud.scheduler.complete(scripted.tokens[0])
    warned = handed_over_after(hands_over_with_heartbeats)
    warned.cancel()
    assert warned.cloud.scheduler.fail(warned.tokens[0], "stopped", retry=MINUTE).status is Status.CANCELLED


def timing_out():
    scripted = handed_over_after(hands_over_with_heartbeats, attempts=1)
    for _ in range(15):
        scripted.cloud.advance(minutes=4)
        with suppress(HandOverEnded):
            scripted.cloud.scheduler.heartbeat(scripted.tokens[0])
    scripted.cloud.advance(minutes=2)
    assert (*scripted.ends(), scripted.row.recoveries) == ("failed", 1, 0)
    assert "timed out" in scripted.row.failure_reason
    with pytest.raises(HandOverEnded):
        scripted.cloud.scheduler.complete(scripted.tokens[0])


def missing_a_heartbeat():
    scripted = handed_over_after(hands_over_with_heartbeats, attempts=1, give_up_after=1)
    scripted.cloud.advance(minutes=6)
    assert (*scripted.ends(), scripted.row.attempt, scripted.row.recoveries) == ("processing", 2, 1, 1)
    with pytest.raises(HandOverEnded):
        scripted.cloud.scheduler.complete(scripted.tokens[0])


def fatal():
    assert ScriptedAction(says_fatal).ends() == ("failed", 1)
    assert ScriptedAction(after_a_cancel(says_fatal)).ends() == ("failed", 1)


def cancel():
    for does in (fails, says_retry):
        scripted = ScriptedAction(after_a_cancel(does))
        assert scripted.ends() == ("failed", 1)
        assert (scripted.row.cancel_request.by, scripted.row.cancelled_by) == ("simulation", None)


def attempts():
    assert ScriptedAction(fails, ONCE).ends() == ("failed", 1)
    assert ScriptedAction(says_retry, ONCE).ends() == ("failed", 1)


def expiry():
    patient = RetryPolicy(9, 60, 0)
    for does in (fails, says_retry):
        assert ScriptedAction(does, patient, expires_after=MINUTE).ends() == ("failed", 1)
        waits = ScriptedAction(does, patient, expires_after=2 * MINUTE).waits()
        assert waits == ("pending", 1, MINUTE)


def giving_up():
    for does in (fails, says_retry):
        assert ScriptedAction(does, RetryPolicy(9, 60, 0, give_up_after=59)).ends() == ("failed", 1)
        assert ScriptedAction(does, RetryPolicy(9, 60, 0, give_up_after=60)).waits() == ("pending", 1, MINUTE)


def retry_after():
    for back_off in (1, 6_000):
        policy = RetryPolicy(attempts=3, backoff=back_off, jitter=1)
        assert ScriptedAction(says_retry, policy).waits() == ("pending", 1, MINUTE)


def back_off():
    assert ScriptedAction(fails).waits() == ("pending", 1, 10 * MINUTE)


RULES = {
    "the commit": commit,
    "the roll-over with a cancel": roll_over_with_a_cancel,
    "the roll-over": roll_over,
    "max_recoveries": too_many_recoveries,
    "the handler that stops on request": stopping,
    "the handler that returns": returning,
    "the handler that [hands over](guides/hand-over.md)": handing_over,
    "the completion of a hand-over": completing,
    "a cancel of a hand-over": cancelling_a_hand_over,
    "the time-out of a hand-over": timing_out,
    "a missed heartbeat of a hand-over": missing_a_heartbeat,
    "Continue, with a new [checkpoint](guides/long-run.md#checkpoint-and-continue)": continuing,
    "Fatal": fatal,
    "a request to cancel": cancel,
    "attempts": attempts,
    "the expiry": expiry,
    "give_up_after": giving_up,
    "Retry(after)": retry_after,
    "the back-off": back_off,
}


@pytest.mark.parametrize("story", RULES.values(), ids=RULES.keys())
def test_which_rule_wins(story):
    story()


class Yard:
    """A job of every ten minutes whose runs fail, and the cloud in which operators tune it."""

    name = "yard-sweep"

    def __init__(self, retry=PATIENT):
        self.cloud = SimulatedCloud(self.app(retry), start=NOON)

    def app(self, retry):
        app = App()

        @app.job(every(minutes=10), name=self.name, retry=retry, overlap="allow")
        def sweep_yard() -> None:
            raise ConnectionError("no broom")

        return app

    def set(self, **settings):
        self.cloud.jobs.set(self.name, **settings)

    def policy_of_next_run(self):
        """The snapshot that the run of the next ten minutes has made."""
        self.cloud.advance(minutes=10)
        [*_, last] = [action for action in self.cloud.actions() if action.attempt]
        return RetryPolicy.parse(last.retry)


def snapshot():
    yard = Yard()
    assert yard.policy_of_next_run() == PATIENT
    row = yard.cloud.actions(Status.PENDING)[0]
    yard.set(attempts=1)
    yard.cloud.deploy(yard.app(ONCE))
    yard.cloud.advance(hours=1)
    old = yard.cloud.scheduler.get(row.id)
    assert (old.status, old.attempt, RetryPolicy.parse(old.retry)) == (Status.FAILED, 3, PATIENT)
    yard.cloud.scheduler.redrive(row.id)
    yard.cloud.advance(hours=1)
    assert yard.cloud.scheduler.get(row.id).attempt == 6


def cadence():
    yard = Yard()
    yard.set(attempts=7, backoff=5)
    yard.set(attempts=8, cadence="Every_10m")
    assert yard.policy_of_next_run() == RetryPolicy(8, 5, 0)


def whole_job():
    yard = Yard(RetryPolicy(3, 600, 0, give_up_after=HOUR))
    yard.set(jitter=0.5)
    yard.cloud.deploy(yard.app(RetryPolicy(4, 600, 0, give_up_after=HOUR)))
    assert yard.policy_of_next_run() == RetryPolicy(4, 600, 0.5, give_up_after=HOUR)


def registered(retry):
    """What a tenant's own job goes by, for a handler that says a policy itself."""
    app = App()

    @app.action(retry=RetryPolicy(2, 30, 0, give_up_after=HOUR))
    def ship(payload: Ship) -> None:
        raise ConnectionError("no ship")

    cloud = SimulatedCloud(app, start=NOON)
    cloud.jobs.register(
        Registration(name="acme-ships", handler=Ship(), cadences=[every(minutes=10)], retry=retry)
    )
    cloud.advance(minutes=10)
    [ran] = [action for action in cloud.actions() if action.attempt]
    return RetryPolicy.parse(ran.retry)


def jobs_own():
    assert registered(PATIENT) == PATIENT


def handlers():
    assert registered(None) == RetryPolicy(2, 30, 0, give_up_after=HOUR)


POLICIES = {
    "the row's own snapshot": snapshot,
    "the operator's setting for the cadence": cadence,
    "the operator's setting for the whole job": whole_job,
    "the job's own retry": jobs_own,
    "the handler's retry": handlers,
}


@pytest.mark.parametrize("story", POLICIES.values(), ids=POLICIES.keys())
def test_a_row_selects_its_policy(story):
    story()


def test_a_deploy_does_not_change_the_retry_policy_of_a_claimed_one_shot():
    scripted = ScriptedAction(fails)
    assert scripted.waits() == ("pending", 1, 10 * MINUTE)
    scripted.cloud.deploy(scripted.app(fails, ONCE))
    scripted.cloud.advance(minutes=11)
    assert (scripted.row.status, scripted.row.attempt) == (Status.PENDING, 2)


def test_the_tables_of_the_page_have_a_story_for_each_row():
    tables = re.split(r"^\| (?:rule|policy) \|.*\n\|[-|]+\n", PAGE.read_text(), flags=re.MULTILINE)[1:]
    rows = [re.findall(r"^\| ([^|]+?) \|", table.split("\n\n")[0], re.MULTILINE) for table in tables]
    assert rows == [list(RULES), list(POLICIES)]
