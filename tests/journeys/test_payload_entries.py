"""Each way of scheduling rejects a payload that would arrive as another, and knows an equal one again."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from pydantic import Field, field_serializer, field_validator

from duetime import App, Order, Payload, Registration, every
from duetime.errors import DeclarationError, InvalidPayload, KeyConflict
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
    with pytest.raises(KeyConflict, match="idempotency key"):
        scheduler.schedule(Index(documents={"tea"}), at=SOON, idempotency_key="k")


class Price(Payload):
    amount: Decimal
    since: datetime
    tags: frozenset[str]

    @field_validator("tags", mode="before")
    @classmethod
    def of_text(cls, tags):
        return tags.split(",") if isinstance(tags, str) else tags

    @field_serializer("tags")
    def as_text(self, tags):
        return ",".join(tags)


def test_a_payload_whose_json_differs_has_the_same_key_if_it_is_equal_part_by_part(cloud):
    noon, tags = datetime(2027, 3, 1, 12, tzinfo=UTC), [*frozenset({"tea", "milk", "salt"})]
    scheduler = cloud.scheduler
    joined = Price(amount=Decimal("1.10"), since=noon, tags=frozenset(tags))
    first = scheduler.schedule(joined, at=SOON, idempotency_key="k")
    text = {"amount": "1.1", "since": "2027-03-01T13:00:00+01:00", "tags": ",".join(reversed(tags))}
    repeat = Price.model_validate(text)
    assert repeat.to_json() != joined.to_json()
    assert scheduler.schedule(repeat, at=SOON, idempotency_key="k").id == first.id
    [of_many] = scheduler.schedule_many([Order(repeat, at=SOON, idempotency_key="k")])
    assert of_many.id == first.id
    in_paris = repeat.model_copy(update={"since": noon.astimezone(ZoneInfo("Europe/Paris"))})
    assert scheduler.schedule(in_paris, at=SOON, idempotency_key="k").id == first.id
    for change in ({"amount": "1.11"}, {"since": noon + SOON}, {"tags": "tea"}):
        with pytest.raises(KeyConflict, match="idempotency key"):
            scheduler.schedule(Price.model_validate(text | change), at=SOON, idempotency_key="k")
