"""Each way of scheduling rejects a payload that would arrive as another, and knows an equal one again."""

from datetime import timedelta
from typing import Any

import pytest
from pydantic import Field

from duetime import App, Order, Payload, Registration, every
from duetime.errors import DeclarationError, IdempotencyConflict, InvalidPayload
from duetime.testing import SimulatedCloud

SOON = timedelta(hours=1)


class Index(
    Payload, merge=lambda first, latest: latest.model_copy(update={"data": (first.data, latest.data)})
):
    data: Any = None
    documents: frozenset[str] = frozenset()
    sizes: dict[str, float] = Field(default_factory=dict)


class Nightly(Payload):
    data: Any = None


LOST, KEPT = Index(data=(1, 2)), Index(data=[1, 2])


@pytest.fixture
def app():
    app = App()

    @app.action
    def index(payload: Index) -> None: ...

    @app.job("daily 03:00", name="billing-nightly", payload=Nightly(data=[1]))
    def nightly(payload: Nightly) -> None: ...

    return app


@pytest.fixture
def cloud(app):
    return SimulatedCloud(app)


def batch(scheduler):
    with scheduler.batch("documents") as members:
        members.schedule_many([Order(LOST, SOON)])


def completion(scheduler):
    with scheduler.batch("documents", on_complete=LOST) as members:
        members.schedule_many([Order(KEPT, SOON)])


def merged(scheduler):
    for _ in range(2):
        scheduler.schedule(KEPT, at=SOON, debounce_key="k")


WAYS = {
    "schedule": lambda scheduler: scheduler.schedule(LOST, at=SOON),
    "place": lambda scheduler: scheduler.place(Order(LOST, SOON)),
    "schedule_many": lambda scheduler: scheduler.schedule_many([Order(KEPT, SOON), Order(LOST, SOON)]),
    "a batch": batch,
    "a batch's completion": completion,
    "a debounce key": lambda scheduler: scheduler.schedule(LOST, at=SOON, debounce_key="k"),
    "an idempotency key": lambda scheduler: scheduler.schedule(LOST, at=SOON, idempotency_key="k"),
    "a merge": merged,
    "a registration": lambda scheduler: scheduler.jobs.register(
        Registration(name="billing-own", cadences=[every(hours=1)], handler=LOST)
    ),
    "a trigger": lambda scheduler: scheduler.jobs.trigger("billing-nightly", payload=Nightly(data=(1, 2))),
}


@pytest.mark.parametrize("way", WAYS)
def test_a_payload_that_would_be_lost_is_rejected(cloud, way):
    with pytest.raises(InvalidPayload, match=r"data: what is stored would be read back as another value"):
        WAYS[way](cloud.scheduler)


def test_the_payload_of_a_declared_job_is_checked():
    with pytest.raises(DeclarationError, match="data: what is stored"):

        @App().job("daily 03:00", name="billing-own", payload=Nightly(data=(1, 2)))
        def nightly(payload: Nightly) -> None: ...


def test_an_equal_payload_has_the_same_key_whatever_its_order(app, cloud):
    scheduler = cloud.scheduler
    first = scheduler.schedule(
        Index(documents={"tea", "milk"}, sizes={"a": 1, "b": 2.5}), at=SOON, idempotency_key="k"
    )
    for text in (
        '{"documents": ["tea", "milk"], "sizes": {"a": 1, "b": 2.5}}',
        '{"sizes": {"b": 2.5, "a": 1.0}, "documents": ["milk", "tea", "milk"]}',
    ):
        over_http = app.payload("index", text)
        assert scheduler.schedule(over_http, at=SOON, idempotency_key="k").id == first.id
    with pytest.raises(IdempotencyConflict):
        scheduler.schedule(Index(documents={"tea"}), at=SOON, idempotency_key="k")
