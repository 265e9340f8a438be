"""`duetime deployment verify`: a healthy deployment passes, and each broken promise fails its check."""

from datetime import timedelta
from itertools import count

import pytest

from duetime.errors import OperationFailed
from duetime.model.metric import Metric
from duetime.testing import Faults
from tests.verify.conftest import Rejected

ALL = [
    "health",
    "due now (default)",
    "at second boundaries (default)",
    "rescheduled from far to near (default)",
    "cancelled before it is due (default)",
    "cancelled while it runs (default)",
    "failing twice (default)",
    "failing for good (default)",
    "two with one concurrency key (default)",
    "settled in its own transaction (default)",
    "requested twice (default)",
]
FINAL = {"executed", "cancelled"}


def test_a_healthy_deployment_passes_every_check(deploy):
    verified = deploy().verify()
    assert [(result.name, result.state) for result in verified.results] == [(name, "ok") for name in ALL]
    assert verified.is_ok


def test_it_leaves_no_probe_no_event_and_no_count(deploy):
    deployment = deploy(near_limit=timedelta(seconds=60), wake_early=timedelta(seconds=30))
    deployment.verify(far=True)
    rows = deployment.cloud.actions()
    assert {row.status.value for row in rows} == FINAL
    assert deployment.cloud.events() == ()
    assert {metric for metric in Metric if deployment.cloud.metrics.values(metric)} == set()
    retained = {row.kept_until - row.attempts[-1].finished_at for row in rows if row.attempts}
    assert retained == {timedelta(hours=1)}


def test_a_far_probe_waits_for_a_timer_whose_lateness_is_measured(deploy):
    verified = deploy(near_limit=timedelta(seconds=60), wake_early=timedelta(seconds=30)).verify(far=True)
    assert [result.state for result in verified.results if result.name == "far ahead (default)"] == ["ok"]
    assert verified.is_ok


def test_a_dead_workers_run_is_taken_over(deploy):
    [died] = [result for result in deploy().verify(chaos=True).results if "dies" in result.name]
    assert (died.state, died.actual[:16]) == ("ok", "taken over after")


@pytest.mark.parametrize("fault", ["double", "reorder"])
def test_wakes_that_come_twice_or_in_another_order_break_no_promise(deploy, fault):
    assert deploy(faults=Faults.only(7, **{fault: 0.5})).failed() == {}


def test_without_messages_each_check_of_a_run_fails_and_nothing_stays_behind(deploy):
    deployment = deploy(faults=Faults.only(3, drop_message=1.0))
    failed = deployment.failed()
    assert {*failed} == {*ALL} - {"health", "cancelled before it is due (default)"}
    assert "is still pending, due" in failed["due now (default)"]
    assert {row.status.value for row in deployment.cloud.actions()} == {"cancelled"}


def changed(row, **attempt):
    attempts = [{**run, **attempt} for run in row["attempts"]]
    return {**row, "attempts": attempts}


def one_more_run(row):
    return {**row, "attempts": row["attempts"] * 2} if len(row["attempts"]) == 1 else row


def begun_early(row):
    return changed(row, started_at="2025-12-31T23:59:59Z") if row["status"] == "executed" else row


def begun_late(row):
    return changed(row, started_at="2026-01-01T01:00:00Z") if row["concurrency_key"] is None else row


def overlapping(row):
    return changed(row, finished_at="2026-01-01T01:00:00Z") if row["concurrency_key"] else row


def run_though_cancelled(row):
    ran = {"number": 1, "outcome": "executed"}
    return {**row, "attempts": [ran]} if row["status"] == "cancelled" and not row["attempts"] else row


def never_retried(row):
    return {**row, "attempts": row["attempts"][-1:]} if len(row["attempts"]) > 1 else row


@pytest.mark.parametrize(
    ("distortion", "check", "actual"),
    [
        (one_more_run, "due now (default)", "2 runs of "),
        (one_more_run, "requested twice (default)", "2 runs of "),
        (begun_early, "at second boundaries (default)", " ms before it was due"),
        (begun_late, "at second boundaries (default)", "10 runs, at most 3"),
        (overlapping, "two with one concurrency key (default)", "they overlapped for 3"),
        (run_though_cancelled, "cancelled before it is due (default)", "it ran"),
        (never_retried, "failing twice (default)", "1 run: executed"),
        (never_retried, "failing for good (default)", "1 run: executed"),
    ],
)
def test_a_broken_promise_fails_its_check(deploy, distortion, check, actual):
    deployment = deploy()
    deployment.distort = lambda path, content: (
        {**content, "items": [distortion(row) for row in content["items"]]}
        if path == ("actions", "query")
        else content
    )
    assert actual in deployment.failed()[check]


def test_an_idempotency_key_that_makes_two_actions_fails(deploy):
    deployment = deploy()
    ask, number = deployment.ask, count()

    def with_another_key(method, *path, body=None, **more):
        if body and "idempotency_key" in body:
            body = {**body, "idempotency_key": f"key-{next(number)}"}
        return ask(method, *path, body=body, **more)

    deployment.ask = with_another_key
    assert deployment.failed() == {"requested twice (default)": "2 actions"}


def test_a_poisoned_probe_must_be_a_dead_letter(deploy):
    deployment = deploy()
    deployment.distort = lambda path, content: {"items": []} if path == ("dead-letters",) else content
    assert deployment.failed() == {
        "failing for good (default)": "it failed, and is not among the dead letters"
    }
    assert {row.status.value for row in deployment.cloud.actions()} == FINAL


def test_an_ill_part_fails_the_check_of_health(deploy):
    deployment = deploy()
    deployment.distort = lambda path, content: (
        {**content, "status": "ill", "ill": ["sweep"]} if path == ("health", "details") else content
    )
    assert deployment.failed() == {"health": "ill: sweep"}


def test_a_rejected_request_fails_its_check_alone_and_its_reason_is_printed(deploy):
    deployment = deploy()
    ask = deployment.ask

    def without_reschedule(method, *path, **more):
        return ask(method, *(("actions", "nonsense") if "reschedule" in path else path), **more)

    deployment.ask = without_reschedule
    [(check, actual)] = deployment.failed().items()
    assert check == "rescheduled from far to near (default)"
    assert actual


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"groups": "viewers"}, "the caller lacks actions:manage, system, tenant:admin: use a role"),
        ({"groups": "operators"}, "the caller lacks tenant:admin: use a role"),
        ({"enabled": False}, "the global switch is off: set enabled=true"),
    ],
)
def test_what_cannot_be_verified_is_rejected_before_a_probe_is_scheduled(deploy, options, message):
    deployment = deploy(**options)
    with pytest.raises(OperationFailed, match=message):
        deployment.verify(notify=True)
    assert deployment.cloud.actions() == ()


def test_a_deployment_of_a_version_without_probes_is_rejected(deploy):
    deployment = deploy()
    deployment.distort = lambda path, content: {**content, "probes": []} if "details" in path else content
    with pytest.raises(OperationFailed, match="deploy again with this version"):
        deployment.verify()


def test_an_interrupted_verification_removes_its_probes(deploy):
    deployment = deploy()
    advance = deployment.wait_until

    def interrupt(instant):
        if deployment.cloud.actions("executed"):
            deployment.wait_until = advance
            raise KeyboardInterrupt
        advance(instant)

    deployment.wait_until = interrupt
    with pytest.raises(KeyboardInterrupt):
        deployment.verify()
    deployment.cloud.advance(minutes=5)
    assert {row.status.value for row in deployment.cloud.actions()} == FINAL


def test_a_worker_that_does_not_run_its_probe_is_named(deploy):
    deployment = deploy()
    deployment.distort = lambda path, content: (
        {**content, "probes": ["duetime-probe-mails", "duetime-probe"]} if "details" in path else content
    )
    failed = deployment.failed()
    assert [*failed] == ["due now (mails)", "at second boundaries (mails)"]
    assert all("duetime-probe-mails" in actual for actual in failed.values())


def rejecting(deployment, times):
    """Reject so many reads of the rows, once the first probe has run."""
    ask, left = deployment.ask, [times]

    def sometimes(method, *path, **more):
        if path == ("actions", "query") and left[0] and deployment.cloud.actions("executed"):
            left[0] -= 1
            raise Rejected("too many requests at once")
        return ask(method, *path, **more)

    deployment.ask = sometimes


def test_some_rejected_reads_change_no_result(deploy):
    deployment = deploy()
    rejecting(deployment, 4)
    assert deployment.failed() == {}


def test_an_api_that_stays_away_ends_the_verification_and_its_probes_are_still_removed(deploy):
    deployment = deploy()
    rejecting(deployment, 6)
    with pytest.raises(Rejected):
        deployment.verify()
    deployment.cloud.advance(minutes=5)
    assert {row.status.value for row in deployment.cloud.actions()} == FINAL
