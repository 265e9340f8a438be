"""The traceback of a failed attempt is stored beside its row, without secrets, and harms no settle."""

from datetime import UTC, datetime, timedelta

import pytest

from duetime import App, Batch, Fatal, Payload, Retry, RetryPolicy, Run, Status
from duetime.errors import BackendUnavailable
from duetime.memory.store import MemoryStore
from duetime.settings import Settings
from duetime.testing import SimulatedCloud

NOON = datetime(2027, 6, 1, 12, tzinfo=UTC)
SOON = NOON + timedelta(minutes=1)
CARD = "4111111111111111"


class Charge(Payload, sensitive=("card",)):
    order: str = "o-17"
    card: str = CARD


def declined(payload):
    raise ConnectionError(f"card {payload.card} of {payload.order} was declined")


def cloud_of(handler, **options):
    app = App()
    app.action(**{"retry": RetryPolicy(attempts=2, backoff=[60]), **options})(handler)
    return SimulatedCloud(app, start=NOON)


def run(cloud, **advance):
    action = cloud.scheduler.schedule(Charge(), at=SOON)
    cloud.advance(**advance or {"minutes": 5})
    return cloud.scheduler.get(action.id)


def tracebacks(cloud, action):
    return cloud._cloud.store.tracebacks(action.ref)


def test_each_failed_attempt_has_its_whole_traceback_without_secrets():
    def charge(payload: Charge) -> None:
        try:
            declined(payload)
        except ConnectionError as error:
            raise LookupError("no other card") from error

    cloud = cloud_of(charge)
    action = run(cloud)
    found = tracebacks(cloud, action)
    assert action.status is Status.FAILED
    assert [one.started_at for one in found] == [attempt.started_at for attempt in action.attempts]
    assert len(found) == 2
    for one in found:
        assert "in declined" in one.text
        assert "ConnectionError: card [redacted] of o-17 was declined" in one.text
        assert one.text.endswith("LookupError: no other card")
        assert CARD not in one.text


def test_an_attempt_that_a_later_one_repeats_with_success_keeps_its_traceback():
    def charge(payload: Charge, run: Run) -> None:
        if run.attempt == 1:
            raise Retry(timedelta(minutes=1), "the shop is closed")

    cloud = cloud_of(charge)
    action = run(cloud)
    (only,) = tracebacks(cloud, action)
    assert action.status is Status.EXECUTED
    assert only.started_at == action.attempts[0].started_at
    assert only.text.endswith("Retry: the shop is closed")


def test_each_run_of_a_batch_has_the_traceback_of_its_own_failure():
    def charge(batch: Batch[Charge]) -> None:
        for payload, run_ in batch.items:
            if payload.order == "bad":
                try:
                    declined(payload)
                except ConnectionError as error:
                    batch.fail(run_, error)

    cloud = cloud_of(charge, many=True, retry=RetryPolicy(attempts=1))
    good, bad = (cloud.scheduler.schedule(Charge(order=order), at=SOON) for order in ("good", "bad"))
    cloud.advance(minutes=1)
    assert list(tracebacks(cloud, good)) == []
    (only,) = tracebacks(cloud, bad)
    assert "in declined" in only.text
    assert CARD not in only.text


def test_what_raised_for_a_whole_batch_is_the_traceback_of_each_of_its_runs():
    def charge(batch: Batch[Charge]) -> None:
        declined(batch.items[0].payload)

    cloud = cloud_of(charge, many=True, retry=RetryPolicy(attempts=1))
    actions = [cloud.scheduler.schedule(Charge(), at=SOON) for _ in range(3)]
    cloud.advance(minutes=1)
    assert {len(tracebacks(cloud, action)) for action in actions} == {1}


@pytest.mark.parametrize("error", [None, Fatal("no")])
def test_only_a_failure_writes_one(error, monkeypatch):
    written = []
    monkeypatch.setattr(MemoryStore, "put_traceback", lambda *given: written.append(given))

    def charge(payload: Charge) -> None:
        if error:
            raise error

    run(cloud_of(charge))
    assert len(written) == (0 if error is None else 1)


def test_a_traceback_that_cannot_be_written_harms_no_settle(monkeypatch, caplog):
    def refuse(*_given):
        raise BackendUnavailable("DynamoDB", "throttled")

    monkeypatch.setattr(MemoryStore, "put_traceback", refuse)
    cloud = cloud_of(declined_handler, retry=RetryPolicy(attempts=1))
    action = run(cloud)
    assert action.status is Status.FAILED
    assert len(action.attempts) == 1
    assert [record.message for record in caplog.records if "traceback" in record.message] == [
        "traceback not stored"
    ]


def declined_handler(payload: Charge) -> None:
    declined(payload)


def test_a_traceback_expires_with_its_row():
    cloud = cloud_of(declined_handler, retry=RetryPolicy(attempts=1))
    action = run(cloud)
    cloud._cloud.store.remove_expired(action.kept_until - timedelta(seconds=1))
    assert len(tracebacks(cloud, action)) == 1
    cloud._cloud.store.remove_expired(action.kept_until)
    assert list(tracebacks(cloud, action)) == []


def test_a_traceback_before_a_retry_is_kept_as_if_the_retry_ended_the_row(monkeypatch):
    expiries, put = [], MemoryStore.put_traceback

    def noted(store, ref, traceback, kept_until):
        expiries.append(kept_until)
        put(store, ref, traceback, kept_until)

    monkeypatch.setattr(MemoryStore, "put_traceback", noted)
    cloud = cloud_of(declined_handler)
    retrying = run(cloud, seconds=61)
    assert (retrying.status, expiries) == (Status.PENDING, [retrying.due_at + Settings().retention])
    cloud.advance(minutes=5)
    assert expiries[1:] == [cloud.scheduler.get(retrying.id).kept_until]
