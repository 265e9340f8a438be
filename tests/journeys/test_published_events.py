"""Each event of a one-shot that the page lists leaves the table: its record passes the stream's filters."""

import json
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from duetime import App, Payload, Rate, Retry, RetryPolicy, Run, Scheduler
from duetime.aws.items import to_item
from duetime.lambdas.publish import action_filters, job_filters
from duetime.model.change import Change
from duetime.model.event_pattern import matches
from duetime.model.event_pattern_rules import problems_of
from duetime.model.run import WorkerDied
from duetime.settings import Settings
from duetime.sqlite.cloud import SqliteCloud
from duetime.testing import SimulatedCloud, TurnedClock
from tests.journeys.embedded_time import advance

MINUTE, LATER = timedelta(minutes=1), timedelta(minutes=8)
PAGE = (Path(__file__).parents[2] / "docs/events.md").read_text()
LISTED = re.findall(r"^\| (`action\..*?`) \|.*\| (`all`)? ?\|$", PAGE, re.MULTILINE)
DOCUMENTED = {
    events: {
        word for names, rest in LISTED if not rest or events == "all" for word in re.findall("`(.*?)`", names)
    }
    for events in ("standard", "all")
}
QUOTAS = {"without quotas": {}, "with quotas": {"tenants": "acme globex"}}


class Step(Payload):
    do: str = ""


class Rated(Payload):
    n: int = 0


def app():
    made, died = App(), []

    @made.action(retry=RetryPolicy(attempts=2, backoff=MINUTE))
    def step(payload: Step, run: Run) -> object:
        match payload.do, run.attempt:
            case "ask", _:
                return run.await_approval("Go on?", timeout=LATER)
            case "hand over", _:
                return run.hand_over(timeout=LATER)
            case "die", _ if payload.do not in died:
                died.append(payload.do)
                raise WorkerDied
            case "retry", 1:
                raise Retry("later")
            case "fail", _:
                raise ValueError(payload.do)
        return None

    @made.action(rate=Rate(1, per="minute"))
    def rated(payload: Rated, run: Run) -> None: ...

    return made


def live(cloud):
    """Have each event of a one-shot once, at least."""
    scheduler = cloud.scheduler
    for do in ("ask", "hand over", "die", "retry", "fail"):
        scheduler.schedule(Step(do=do), at=MINUTE)
    for n in range(3):
        scheduler.schedule(Rated(n=n), at=MINUTE)
        scheduler.schedule(Step(), at=LATER, debounce_key="d", at_most_after=2 * LATER)
    scheduler.schedule(Rated(n=3), at=MINUTE, expires_after=MINUTE)
    scheduler.schedule(Step(), at=MINUTE, after=[scheduler.schedule(Step(), at=MINUTE).id])
    scheduler.cancel(scheduler.schedule(Step(), at=LATER).id)
    scheduler.reschedule(scheduler.schedule(Step(), at=LATER).id, at=2 * LATER)
    with pytest.raises(WorkerDied):
        cloud.advance(minutes=1)
    cloud.advance(minutes=1)
    [waiting] = [row for row in cloud.actions("processing") if row.awaits_approval]
    scheduler.cancel(waiting.id)
    cloud.advance(minutes=7)
    for failed in cloud.actions("failed"):
        scheduler.redrive(failed.id)
    cloud.advance(minutes=12)


class OverSqlite:
    """An embedded scheduler over a file, with a clock that the test moves."""

    def __init__(self, app, *, settings, tenant_id):
        self.clock = TurnedClock(datetime(2026, 1, 1, tzinfo=UTC))
        self.memory = SqliteCloud(app, path=":memory:", settings=settings, clock=self.clock)
        facts = {"clock": self.clock, "settings": settings}
        self.scheduler = Scheduler(self.memory.store, tenant_id=tenant_id, actor="ann", **facts)

    @property
    def now(self):
        return self.clock.now()

    def events(self):
        return self.memory.bus.published

    def actions(self, status):
        return [row for row in self.scheduler.list() if row.status == status]

    def advance(self, **span):
        advance(self.memory, self.clock, timedelta(**span))


@pytest.mark.parametrize("world", [SimulatedCloud, OverSqlite])
@pytest.mark.parametrize("quotas", QUOTAS.values(), ids=QUOTAS)
@pytest.mark.parametrize("events", ["standard", "all"])
def test_each_listed_event_is_published_and_its_record_passes_the_filters(events, quotas, world):
    settings = Settings(events=events, **quotas)
    cloud, changes = world(app(), settings=settings, tenant_id="acme"), []
    record = cloud.memory._record_fact
    cloud.memory._record_fact = lambda fact: (changes.append(fact), record(fact))
    live(cloud)
    published = {event["detail-type"] for event in cloud.events()}
    assert {name for name in published if name.startswith("action.")} == DOCUMENTED[events]
    select, filters = cloud.memory._publish._selection, action_filters(settings)
    passed = {True: set(), False: set()}
    for change in (one for one in changes if isinstance(one, Change) and one.new):
        is_passed = any(matches(pattern, record_of(change)) for pattern in filters)
        passed[is_passed] |= {event.type for event in select(change, cloud.now)}
    assert not passed[False]
    assert passed[True] >= DOCUMENTED[events]
    cloud.memory.close()


@pytest.mark.parametrize("quotas", QUOTAS.values(), ids=QUOTAS)
def test_a_write_without_a_published_event_stays_in_the_table(quotas):
    settings = Settings(**quotas)
    cloud, changes = SimulatedCloud(app(), settings=settings, tenant_id="acme"), []
    cloud.memory._record_fact = changes.append
    cloud.scheduler.schedule(Step(), at=MINUTE)
    cloud.advance(minutes=2)
    passed = [
        change.new.status.value
        for change in changes
        if isinstance(change, Change)
        and any(matches(pattern, record_of(change)) for pattern in action_filters(settings))
    ]
    assert passed == (["pending", "executed"] if quotas else [])


@pytest.mark.parametrize("quotas", QUOTAS.values(), ids=QUOTAS)
@pytest.mark.parametrize("events", ["standard", "all"])
def test_the_filters_are_patterns_within_the_bounds_of_lambda(events, quotas):
    settings = Settings(events=events, **quotas)
    for filters in (action_filters(settings), job_filters(settings)):
        assert len(filters) <= 5
        assert [problems_of(pattern) for pattern in filters] == [[]] * len(filters)
        assert max(len(json.dumps(pattern)) for pattern in filters) < 4_096


def record_of(change):
    """Return the change as a record of the table's stream."""
    new = to_item(change.new)
    images = {"Keys": {name: new[name] for name in ("pk", "sk")}, "NewImage": new}
    old = {} if change.old is None else {"OldImage": to_item(change.old)}
    return {"eventName": "MODIFY" if old else "INSERT", "dynamodb": images | old}
