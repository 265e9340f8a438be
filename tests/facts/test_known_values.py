"""What a process decides by the pauses and the region that it knows, and which events it selects."""

from dataclasses import replace
from datetime import timedelta
from types import SimpleNamespace

import pytest

from duetime import ids
from duetime.errors import StateConflict
from duetime.events.count_runs import CountRuns
from duetime.events.publish import EventSelection
from duetime.jobs.trusted_reading import KnownPauses, KnownRegion
from duetime.model.action import Status
from duetime.model.change import Change
from duetime.model.job_events import JobChange
from duetime.model.work_pause import LOOKED_AHEAD
from duetime.settings import Settings
from duetime.wakeups.pass_parts import in_words
from tests.facts.test_bounds import (
    BREAKER,
    GONE,
    HOUR,
    KEYED_JOB,
    NOON,
    OF_TENANT,
    PAUSE,
    RETRIED,
    ROW,
    SECOND,
    TICK,
    TITLED,
    WORK,
)

CLOCK = SimpleNamespace(now=lambda: NOON, elapsed=lambda: 0.0)
AT_ONCE = timedelta(0)
LOOK = NOON - LOOKED_AHEAD
ENDS = replace(PAUSE, until=NOON)
PASS = ids.occurrence_id("duetime-sweep", 1, NOON)
DONE = {"sent": 1, "maintained": 0, "set_aside": (), "failed_shards": (), "failed_jobs": ()}


def known(*pauses):
    return KnownPauses(SimpleNamespace(list=lambda: pauses), CLOCK)


def counted(*rows, **options):
    added = []

    def add(ended, **_):
        added.extend(count.name for count in ended)

    CountRuns(SimpleNamespace(add=add), **options)([(Change(None, row), NOON) for row in rows])
    return added


def events(fact, stored=None, **settings):
    selection = EventSelection(
        SimpleNamespace(get=lambda _ref: stored),
        SimpleNamespace(event_route=lambda _name: None),
        settings=Settings(**settings),
    )
    return selection(fact, NOON)


def ended(status=Status.EXECUTED, **changed):
    return replace(ROW, status=status, **changed)


VALUES = [
    (lambda: known(OF_TENANT).of_tenant("acme"), OF_TENANT),
    (lambda: known(replace(OF_TENANT, name=ids.SYSTEM_TENANT)).of_tenant(ids.SYSTEM_TENANT), None),
    (lambda: known(PAUSE).find(lambda pause: pause.id == "p-2"), None),
    (lambda: known(PAUSE).find(lambda pause: pause.id == "p-1"), PAUSE),
    (lambda: known(replace(PAUSE, skips=True)).ready_at(WORK, late=AT_ONCE, is_first=True), NOON),
    (lambda: known(replace(PAUSE, skips=True)).ready_at(WORK, late=AT_ONCE, is_first=False) > NOON, True),
    (lambda: known(PAUSE).ready_at(WORK, late=AT_ONCE, is_first=True) > NOON, True),
    (lambda: known(OPEN).ready_at(WORK, late=AT_ONCE, is_first=True), NOON - HOUR),
    (
        lambda: known(replace(OPEN, until=NOON + HOUR)).ready_at(WORK, late=AT_ONCE, is_first=True) > NOON,
        True,
    ),
    *(
        (lambda since=since, now=now: known(ENDS).is_look_due(since, now, [], SECOND), is_due)
        for since, now, is_due in [
            (None, LOOK, True),
            (None, LOOK - TICK, False),
            (LOOK - TICK, LOOK, True),
            (LOOK, LOOK, False),
        ]
    ),
    (lambda: counted(ended(), ended(Status.FAILED)), ["errand", "errand"]),
    (lambda: counted(ended(), ended(Status.FAILED), all_one_shots=False), ["errand"]),
    (lambda: counted(ended(id=RETRIED.id), all_one_shots=False), ["books-close"]),
    (lambda: counted(ended(id=PASS)), []),
    (lambda: len(events(Change(None, ended(Status.FAILED)), events="off")), 0),
    (
        lambda: [event.word.value for event in events(Change(None, ended(Status.FAILED)), events="all")][-1],
        "failed",
    ),
    (lambda: [event.word.value for event in events(Change(None, ended(id=PASS)), events="all")], []),
    (lambda: len(events(JobChange(KEYED_JOB, replace(KEYED_JOB, cursor=NOON + HOUR)))), 0),
    (
        lambda: [
            event.about["title"]
            for event in events(JobChange(None, KEYED_JOB), replace(GONE, definition=TITLED))
        ],
        ["Books"],
    ),
    (lambda: [event.about["title"] for event in events(JobChange(None, KEYED_JOB))], [None]),
    (
        lambda: len(
            events(JobChange(None, replace(KEYED_JOB, ref=replace(KEYED_JOB.ref, name="duetime-sweep"))))
        ),
        0,
    ),
    (lambda: in_words(DONE), "sent 1, maintained 0 jobs"),
    (
        lambda: in_words(DONE | {"removed": "a"}),
        "sent 1, maintained 0 jobs, removed 1 stray, set wakes of 0 jobs again",
    ),
    (
        lambda: in_words(DONE | {"set_again": "a"}),
        "sent 1, maintained 0 jobs, removed 0 strays, set wakes of 1 job again",
    ),
]
OPEN = replace(PAUSE, breaker=replace(BREAKER, probes_at=NOON - HOUR, probe_until=None))


@pytest.mark.parametrize("number", range(len(VALUES)))
def test_what_is_known_decides(number):
    found, expected = VALUES[number]
    assert found() == expected


def test_a_region_that_stands_by_writes_nothing():
    with pytest.raises(StateConflict):
        KnownRegion(SimpleNamespace(own="eu-west-1", read=lambda: None), CLOCK).require_active()
