"""A timeline lists every nominal time of a job exactly once, and no other time."""

from datetime import UTC, datetime
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from duetime import ids
from duetime.cadence import local_occurrences, parse
from duetime.jobs.occurrence_status import OccurrenceStatus
from duetime.jobs.timeline import without_calendar
from duetime.model.action import Status
from duetime.model.job import JobSpan, Pause, SpanKind
from tests.facts.job_histories import (
    DAY,
    MINUTE,
    NAME,
    PARIS_AUTUMN,
    PARIS_SPRING,
    SECOND,
    Rows,
    explained_entries,
    history_of,
    row,
    version,
)

TEXTS = (
    "daily 09:00 tz=Europe/Paris",
    "daily 02:30 tz=Europe/Paris",
    "daily 02:30 tz=Europe/Paris dst=eventbridge",
    "every 20m tz=America/St_Johns calendar=exclude:sun,2026-03-30",
    "every 30m tz=Europe/Paris window=22:00-03:30 dst=vixie",
    "every 1h calendar=exclude:sat,sun;instead:next_business_day tz=Africa/Cairo",
    "monthly 1,31 00:10 calendar=exclude:sat,sun,01-01;instead:business_day_of_month tz=Africa/Cairo",
    "cron 15,45 * * * * tz=Australia/Lord_Howe calendar=include:mon,tue,2026-03-28",
    "interval 7m",
    "interval 90m days=mon-fri calendar=exclude:2026-10-26 tz=America/Santiago",
    "once 2026-03-29T02:30 tz=Europe/Paris",
    "business_day 1,last 09:00 calendar=exclude:2026-03-31,2026-10-26 tz=Europe/Paris",
    "cron 30 2 * * SUN offset=1b calendar=exclude:2026-03-30 tz=Europe/Paris",
    "weekly mon 00:10 offset=-1d calendar=exclude:sun;instead:next_business_day tz=America/Santiago",
    "daily 02:30 spread=1h tz=Europe/Paris dst=eventbridge",
    "every 6h window=00:00-03:00,11:00-23:00 calendar=exclude:sun,2026-03-30 spread=3h tz=Africa/Cairo",
    "daily 23:55 calendar=exclude:sat,sun;instead:next_business_day spread=45m tz=America/Santiago",
    "daily 09:00 calendar=exclude:2026-03-27;instead:previous_business_day;working:2026-03-28",
    "daily 00:10 calendar=exclude:2026-03-30;instead:next_business_day;weekends:keep tz=Africa/Cairo",
    "every 90m start=2026-03-28 count=9 calendar=exclude:2026-03-29 tz=Europe/Paris dst=eventbridge",
    "every 20m start=2026-03-28T23:00 end=2026-04-05T02:30Z except_at=2026-03-29T01:20 tz=Europe/Paris",
)
CHANGES = (PARIS_SPRING, PARIS_AUTUMN, datetime(2026, 4, 5, 3, tzinfo=UTC))


@st.composite
def job_histories(draw):
    """What is known of a job, its rows, and a window."""
    origin = draw(st.sampled_from(CHANGES)) - 2 * DAY

    def moments(low=0, high=5 * 24 * 60):
        return st.integers(low, high).map(lambda minutes: origin + minutes * MINUTE)

    edges = sorted(draw(st.lists(moments(), min_size=1, max_size=3, unique=True)))
    versions = [
        version(
            n + 1, draw(st.lists(st.sampled_from(TEXTS), min_size=1, max_size=3, unique=True)), since, until
        )
        for n, (since, until) in enumerate(zip(edges, [*edges[1:], None], strict=True))
    ]
    names = ["", *sorted({parse(text).name for item in versions for text in item.definition.cadences})]
    spans = [
        JobSpan(
            kind=draw(st.sampled_from(SpanKind)),
            start=min(ends),
            end=max(ends),
            cadence=draw(st.sampled_from(names)),
        )
        for ends in draw(st.lists(st.tuples(moments(), moments()), max_size=3))
    ]
    pauses = {
        name: Pause(since=draw(moments()), by="ana", until=draw(st.none() | moments()))
        for name in draw(st.lists(st.sampled_from(names), max_size=2, unique=True))
    }
    facts = history_of(
        *versions,
        spans=spans,
        now=draw(moments()),
        cursor=draw(moments()),
        pauses=pauses,
        removed_at=draw(st.none() | moments()),
    )
    start, end = sorted((draw(moments(-600)), draw(moments(0, 6 * 24 * 60))))
    window = (start, end)
    share = draw(st.integers(0, 4))
    rows = [
        row(at, draw(st.sampled_from([Status.EXECUTED, Status.PENDING])), number=number)
        for place, (number, at, _) in enumerate(nominal_times(facts, *window))
        if share and place % 5 < share and draw(st.booleans())
    ]
    return facts, rows, window


def nominal_times(facts, start, end):
    """Version, instant and cadences of each nominal time in (start, end], by the cadences alone."""
    for item in facts.versions:
        for due in cadence_set_of(facts, item).between(max(start, item.since), min(end, item.until or end)):
            yield item.number, due.at, due.cadences


def cadence_set_of(facts, item):
    return facts.job.cadences_of(item.definition)


def excluded_times(facts, start, end):
    """Version and instant of each time that a calendar took and no cadence has.

    A calendar by which a cadence counts its days moves times, and takes none.
    """
    for item in facts.versions:
        bounds = max(start, item.since), min(end, item.until or end)
        cadences = cadence_set_of(facts, item).cadences
        retained = {at for cadence in cadences for at in cadence.between(*bounds)}
        without = {
            at
            for cadence in cadences
            if cadence.modifiers.calendar and not cadence.counts_business_days
            for at in without_calendar(cadence).between(*bounds)
        }
        yield from ((item.number, at) for at in sorted(without - retained))


def gaps(facts, start, end):
    """Words on each gap that took times of a version in force."""
    for item in facts.versions:
        bounds = max(start, item.since), min(end, item.until or end)
        if bounds[0] < bounds[1]:
            for cadence in cadence_set_of(facts, item).cadences:
                yield from (one.words for one in local_occurrences(cadence, *bounds) if one.mark == "skipped")


def unfolded_times(facts, entries):
    """Each nominal time that the entries stand for."""
    for entry in entries:
        if entry.account in {OccurrenceStatus.CALENDAR, OccurrenceStatus.GAP}:
            continue
        item = next(one for one in facts.versions if one.number == entry.version)
        dues = list(cadence_set_of(facts, item).between(entry.at - SECOND, entry.ends_at))
        assert {due.cadences for due in dues} == {entry.cadences}
        assert entry.count in {None, len(dues)}
        yield from ((entry.version, due.at, due.cadences, entry) for due in dues)


@given(job_histories(), st.sampled_from([1, 4, 10_000]))
def test_timeline_lists_every_nominal_time_exactly_once(example, many):
    facts, rows, window = example
    entries = explained_entries(
        facts, rows, start=window[0], end=window[1], limit=10**6, counted=many
    ).entries
    by_id = Rows(rows).by_id
    found = list(unfolded_times(facts, entries))
    assert [one[:3] for one in found] == list(nominal_times(facts, *window))
    for number, at, names, entry in found:
        stored = by_id.get(ids.occurrence_id(NAME, number, at))
        verdict = facts.status_at(stored, at, names)
        assert (entry.account, entry.reason) == (verdict.account, verdict.reason)
        assert verdict.note in entry.note
        assert entry.action_id == (stored and stored.id)


@given(job_histories(), st.sampled_from([1, 4, 10_000]))
def test_timeline_lists_every_excluded_time_and_gap_exactly_once(example, many):
    facts, rows, window = example
    entries = explained_entries(
        facts, rows, start=window[0], end=window[1], limit=10**6, counted=many
    ).entries
    taken = [entry for entry in entries if entry.account is OccurrenceStatus.CALENDAR]
    expected = list(excluded_times(facts, *window))
    covering = [
        [item for item in taken if item.version == number and item.at <= at <= item.ends_at]
        for number, at in expected
    ]
    assert all(len(item) == 1 for item in covering)
    assert {item.at for item in taken} | {item.ends_at for item in taken} <= {at for _, at in expected}
    if many == 10_000:
        assert sum(item.count for item in taken) == len(expected)
    words = [
        part for entry in entries if entry.account is OccurrenceStatus.GAP for part in entry.note.split("; ")
    ]
    assert set(words) == set(gaps(facts, *window))


@given(job_histories(), st.sampled_from([1, 6]))
def test_pages_equal_whole_timeline(example, limit):
    facts, rows, (start, end) = example
    total = explained_entries(facts, rows, start=start, end=end, limit=10**6).entries
    pages = []
    while start is not None and len(pages) < 3_000:
        page = explained_entries(facts, rows, start=start, end=end, limit=limit)
        assert len(page) <= limit + 1
        pages.extend(page)
        start = page.next_start
    assert pages == list(total)


@given(job_histories())
def test_entries_are_sorted_by_time(example):
    facts, rows, (start, end) = example
    entries = explained_entries(facts, rows, start=start, end=end, limit=10**6).entries
    places = [(entry.at, entry.ends_at) for entry in entries]
    assert places == sorted(places)
    assert all(here[1] <= then[0] for here, then in pairwise(places))
