"""`@app.action(many=True)`: one call of a handler for several actions, each with its own end."""

import asyncio
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Optional

import pytest

from duetime import App, Batch, Fatal, Payload, Retry, RetryPolicy, Run
from duetime.errors import CommitRejected, DeclarationError, InvalidArgument, RejectedEntry, StateConflict
from duetime.model.run import RunCancelled
from duetime.settings import Settings
from duetime.testing import Faults, SimulatedCloud, fake_batch, fake_run
from tests.journeys.tracing import traced as traced  # noqa: PLC0414 - a fixture

NOON = datetime(2027, 6, 1, 12, tzinfo=UTC)
SOON = NOON + timedelta(minutes=1)


class Index(Payload, sensitive=("secret",)):
    number: int
    secret: str = ""


class Other(Payload):
    pass


class Client:
    pass


def numbers(batch):
    return sorted(payload.number for payload, _ in batch.items)


class Shop:
    """Schedules documents to index, all due at once."""

    def __init__(self, function, *, batch=10, faults=None, on_commit=None, **options):
        app = App()
        app.action(many=True, retry=RetryPolicy(attempts=2, backoff=[60]), **options)(function)
        settings = Settings(worker_batch=batch)
        self.cloud = SimulatedCloud(app, start=NOON, settings=settings, faults=faults, on_commit=on_commit)

    def run(self, count, **advance):
        self.ids = [
            self.cloud.scheduler.schedule(Index(number=n, secret=f"s3cr3t-{n}"), at=SOON).id
            for n in range(count)
        ]
        self.cloud.advance(**advance or {"minutes": 1})
        return self.statuses()

    def statuses(self):
        return [self.cloud.scheduler.get(action).status.value for action in self.ids]

    def message(self, number):
        return self.cloud.scheduler.get(self.ids[number]).attempts[-1].message


@pytest.mark.parametrize(("batch", "sizes"), [(1, [1] * 5), (2, [2, 2, 1]), (10, [5])])
def test_a_call_has_up_to_the_settings_number_of_actions_of_the_type(batch, sizes):
    calls = []

    def index(batch: Batch[Index]) -> None:
        calls.append(numbers(batch))
        assert {run.attempt for _, run in batch.items} == {1}

    shop = Shop(index, batch=batch)
    assert shop.run(5) == ["executed"] * 5
    assert [len(call) for call in calls] == sizes
    assert sorted(number for call in calls for number in call) == list(range(5))


async def _async_index(batch: Batch[Index]) -> None:
    for payload, run in batch.items:
        if payload.number == 2:
            batch.fail(run, ValueError("refused"))


def _index(batch: Batch[Index]) -> None:
    for payload, run in batch.items:
        if payload.number == 2:
            batch.fail(run, ValueError("refused"))


@pytest.mark.parametrize("function", [_index, _async_index])
def test_a_run_that_fails_is_retried_alone(function):
    shop = Shop(function)
    assert shop.run(4) == ["executed", "executed", "pending", "executed"]
    assert shop.message(2) == "ValueError: refused"
    shop.cloud.advance(hours=1)
    assert shop.statuses() == ["executed", "executed", "failed", "executed"]


def test_each_error_of_fail_means_what_it_means_if_a_handler_raises_it():
    def index(batch: Batch[Index]) -> None:
        errors = [Fatal("forbidden"), Retry(after=7), SystemExit(1), RunCancelled()]
        for (_, run), error in zip(
            sorted(batch.items, key=lambda item: item.payload.number), errors, strict=True
        ):
            batch.fail(run, error)

    shop = Shop(index)
    assert shop.run(4) == ["failed", "pending", "pending", "cancelled"]
    assert shop.cloud.scheduler.get(shop.ids[1]).due_at == SOON + timedelta(seconds=7)


def test_an_exception_of_the_handler_fails_the_runs_without_an_outcome():
    committed = []

    def index(batch: Batch[Index]) -> None:
        by_number = {payload.number: run for payload, run in batch.items}
        by_number[0].commit([{"Put": {"TableName": "index", "Item": {}}}])
        batch.fail(by_number[1], Fatal("forbidden"))
        raise ConnectionError("the bulk API is down")

    shop = Shop(index, on_commit=committed.append)
    assert shop.run(4) == ["executed", "failed", "pending", "pending"]
    assert shop.message(1) == "Fatal: forbidden"
    assert {shop.message(2), shop.message(3)} == {"ConnectionError: the bulk API is down"}
    assert len(committed) == 1


def test_a_commit_settles_its_own_action_alone_and_a_rejected_one_goes_on():
    def reject(entries):
        if "ConditionCheck" in entries[0]:
            raise CommitRejected([RejectedEntry(0, "ConditionalCheckFailed")])

    def index(batch: Batch[Index]) -> None:
        for payload, run in batch.items:
            kind = "ConditionCheck" if payload.number == 1 else "Put"
            try:
                run.commit([{kind: {"TableName": "index", "Key": {}}}])
            except CommitRejected as rejected:
                batch.fail(run, rejected)
        shop.seen = shop.statuses()

    shop = Shop(index, on_commit=reject)
    assert shop.run(3) == ["executed", "pending", "executed"]
    assert shop.seen == ["executed", "processing", "executed"]


def test_a_cancelled_run_takes_no_other_with_it():
    def index(batch: Batch[Index]) -> None:
        while True:
            batch.items[0].run.clock.wait_until(batch.items[0].run.now() + timedelta(seconds=10))
            for _, run in batch.items:
                run.raise_if_cancelled()
            if batch.items[0].run.now() > SOON + timedelta(minutes=3):
                return

    shop = Shop(index, faults=Faults.only(3))
    shop.run(3, minutes=1, seconds=5)
    shop.cloud.scheduler.cancel(shop.ids[1])
    shop.cloud.advance(minutes=10)
    assert shop.statuses() == ["executed", "cancelled", "executed"]
    assert shop.cloud.scheduler.get(shop.ids[0]).recoveries == 0
    shop.cloud.check()
    shop.cloud.close()


def test_runs_due_later_in_the_second_are_another_call_and_delay_none():
    calls = []

    def index(batch: Batch[Index]) -> None:
        calls.append((numbers(batch), batch.items[0].run.now() - SOON))

    shop = Shop(index, faults=Faults.only(3))
    shop.cloud.memory.concurrency = 1
    for number, fraction in enumerate([0.0, 0.6, 0.0, 0.6]):
        shop.cloud.scheduler.schedule(Index(number=number), at=SOON + timedelta(seconds=fraction))
    shop.cloud.advance(minutes=2)
    assert calls == [([0, 2], timedelta(0)), ([1, 3], timedelta(seconds=0.6))]
    shop.cloud.check()
    shop.cloud.close()


def test_an_unreadable_payload_fails_its_own_action_alone():
    def index(batch: Batch[Index]) -> None:
        assert numbers(batch) == [0, 2]

    shop = Shop(index)
    shop.ids = [shop.cloud.scheduler.schedule(Index(number=n), at=SOON).id for n in range(3)]
    store = shop.cloud.memory.store
    row = next(row for row in store.rows() if row.id == shop.ids[1])
    store.write(row, replace(row, payload='{"number": "many"}'))
    shop.cloud.advance(minutes=1)
    assert shop.statuses() == ["executed", "failed", "executed"]


def test_no_failure_shows_the_secret_of_another_run_of_its_call():
    def index(batch: Batch[Index]) -> None:
        raise ValueError(" and ".join(payload.secret for payload, _ in batch.items))

    shop = Shop(index)
    shop.run(2)
    assert {shop.message(0), shop.message(1)} == {"ValueError: [redacted] and [redacted]"}


def test_an_async_handler_of_many_is_ended_at_its_deadline():
    async def index(batch: Batch[Index]) -> None:
        await asyncio.Event().wait()

    shop = Shop(index, timeout=timedelta(milliseconds=1))
    assert shop.run(2) == ["pending", "pending"]
    assert "passed its deadline" in shop.message(0)


def test_a_run_fails_once_and_only_in_its_own_batch():
    batch = fake_batch(Index(number=1), Index(number=2))
    first, second = (run for _, run in batch.items)
    batch.fail(first, ValueError("refused"))
    assert isinstance(batch.failure_of(first), ValueError)
    assert batch.failure_of(second) is None
    with pytest.raises(ValueError, match=r"has failed already \(ValueError\('refused'\)\); a run fails once"):
        batch.fail(first, ValueError("again"))
    with pytest.raises(ValueError, match="is not in this batch; pass the run of one of its 2 items"):
        batch.fail(fake_run(), ValueError("refused"))
    with pytest.raises(ValueError, match="the error is 'refused'; pass an exception, such as"):
        batch.fail(second, "refused")
    second.commit([])
    with pytest.raises(StateConflict, match="commit all that belongs together"):
        batch.fail(second, ValueError("too late"))


def test_a_failed_run_cannot_commit():
    raised = []

    def index(batch: Batch[Index]) -> None:
        ((_, run),) = batch.items
        batch.fail(run, Fatal("forbidden"))
        with pytest.raises(InvalidArgument) as refused:
            run.commit([])
        raised.append(str(refused.value))

    shop = Shop(index)
    assert shop.run(1) == ["failed"]
    assert "batch.fail has ended the run of" in raised[0]


def one(payload: Index) -> None: ...


def with_run(batch: Batch[Index], run: Run) -> None: ...


def bare(batch: Batch) -> None: ...


def two(batch: Batch[Index], others: Batch[Other]) -> None: ...


def optional(batch: Optional[Batch[Index]]) -> None: ...  # noqa: UP045 - as users write it


def of_any(batch: Batch[Payload]) -> None: ...


def with_resource(batch: Batch[Index], client: Client, limit: int = 3) -> None: ...


@pytest.mark.parametrize("function", [one, with_run, bare, two, optional, of_any])
def test_many_takes_one_batch_of_one_type(function):
    with pytest.raises(
        DeclarationError, match=r"must, with many=True, take one parameter.*Batch\[MyPayload\]\)"
    ):
        App().action(many=True)(function)


def test_many_may_take_resources():
    app = App()
    app.resource(_client)
    app.action(many=True)(with_resource)
    assert app.handlers["index"].takes_many
    app.complete()


def _client() -> Client:
    return Client()


def test_a_batch_needs_many_and_many_is_true_or_false():
    with pytest.raises(DeclarationError, match=r"takes a Batch; declare it with @app.action\(many=True\)"):
        App().action(with_resource)
    with pytest.raises(DeclarationError, match="many is 10; allowed is True or False"):
        App().action(many=10)(_index)
    with pytest.raises(DeclarationError, match="it has batch"):
        App().job(_index)


def test_each_run_of_a_call_has_a_span_in_its_own_trace(traced):
    def index(batch: Batch[Index]) -> None:
        batch.fail(batch.items[1].run, Fatal("forbidden"))

    shop = Shop(index)
    callers = []
    for number in range(3):
        with traced.calling() as caller:
            shop.cloud.scheduler.schedule(Index(number=number), at=SOON)
            callers.append(caller.get_span_context().trace_id)
    shop.cloud.advance(minutes=1)
    spans = traced.all("Execute")
    assert [span.context.trace_id for span in spans] == callers
    assert sorted(span.attributes["duetime.outcome"] for span in spans) == ["executed", "executed", "failed"]
    assert not any(link.context.trace_id in callers for span in spans for link in span.links)
