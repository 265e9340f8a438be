"""The app of the chaos lane: handlers that commit to a ledger, stumble, take time, or outlast their lease.

They stumble with exceptions of all kinds, also with those that are no `Exception` or have no text.

Each entry of the ledger counts, without a condition: a second commit would show.
"""

import threading
from datetime import timedelta

from duetime import App, Batch, Payload, Rate, RetryPolicy, Run, every
from tests.proof.shop import bad_end

LEDGER = "chaos-ledger"
ONE_AT_A_TIME = frozenset({"chaos-alone", "chaos-queued"})
EVERY = {
    "chaos-free": timedelta(seconds=5),
    "chaos-alone": timedelta(seconds=4),
    "chaos-queued": timedelta(seconds=6),
}
"""The jobs' intervals. Runs of the first may overlap."""


class Pay(Payload):
    """Commits once."""

    seconds: float = 0
    stumbles: int = 0
    stops: bool = True
    """Whether it stops on request, or when its lease is lost."""


class PayTogether(Pay):
    """Commits once, in one call with others."""


class PaySlowly(Pay):
    """Commits once, under a rate limit of its customer."""

    customer: str


RATE = Rate(4, per=timedelta(seconds=2), burst=2, key=lambda pay: pay.customer)
RATED = "pay-slowly"


app = App()
RETRY = RetryPolicy(attempts=4, backoff=1, jitter=0)
TIMEOUT = timedelta(seconds=40)


@app.action(retry=RETRY, timeout=TIMEOUT)
def pay(payload: Pay, run: Run) -> None:
    _pay(payload, run, payload.seconds)


@app.action(retry=RETRY, timeout=TIMEOUT, many=True)
def pay_together(batch: Batch[PayTogether]) -> None:
    begun_at = batch.items[0].run.clock.elapsed()
    for payload, run in sorted(batch.items, key=lambda item: item.payload.seconds):
        try:
            _pay(payload, run, begun_at + payload.seconds - run.clock.elapsed())
        except BaseException as error:  # noqa: BLE001 - each has its own end
            batch.fail(run, error)


@app.action(retry=RETRY, timeout=TIMEOUT, rate=RATE)
def pay_slowly(payload: PaySlowly, run: Run) -> None:
    _pay(payload, run, payload.seconds)


@app.job(every(seconds=5), name="chaos-free", overlap="allow", retry=RETRY, timeout=TIMEOUT)
def free(run: Run) -> None:
    book(run)


@app.job(every(seconds=4), name="chaos-alone", overlap="skip", retry=RETRY, timeout=TIMEOUT)
def alone(run: Run) -> None:
    _work(run, run.nominal_at.second % 3 * 2)
    book(run)


@app.job(every(seconds=6), name="chaos-queued", overlap="queue_one", retry=RETRY, timeout=TIMEOUT)
def queued(run: Run) -> None:
    _work(run, run.nominal_at.second % 5)
    book(run)


def _pay(payload: Pay, run: Run, seconds: float) -> None:
    _work(run, seconds, stops=payload.stops)
    if run.attempt <= payload.stumbles:
        raise bad_end(run)
    book(run)


def book(run: Run) -> None:
    """Commit one entry: the count of this action's commits, and the fence of the last one."""
    run.commit(
        [
            {
                "Update": {
                    "TableName": LEDGER,
                    "Key": {"id": {"S": f"{run.tenant_id}/{run.id}"}},
                    "UpdateExpression": "ADD times :one SET fence = :fence",
                    "ExpressionAttributeValues": {":one": {"N": "1"}, ":fence": {"N": str(run.fence)}},
                }
            }
        ]
    )


def _work(run: Run, seconds: float, *, stops: bool = True) -> None:
    ends = run.clock.elapsed() + seconds
    while run.clock.elapsed() < ends:
        if stops:
            run.raise_if_cancelled()
        threading.Event().wait(0.2)
