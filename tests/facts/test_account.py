"""Every nominal time of a job is accounted for exactly once, and nothing else is."""

from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from duetime import explain, ids, timeline
from duetime.account import Account, Known
from duetime.action import Action, Attempt, SkipReason, Status
from duetime.cadence import explained, parse
from duetime.explain import explanation
from duetime.ids import SYSTEM_TENANT, JobName
from duetime.job import Definition, Job, JobRef, Origin, Pause, Span, SpanKind, Version
from duetime.job_times import without_calendar
from duetime.stacked import Stacked

NOON = datetime(2026, 3, 27, 12, tzinfo=UTC)
NAME = JobName("billing-nightly")
SECOND, MINUTE, HOUR, DAY = (timedelta(**{each: 1}) for each in ("seconds", "minutes", "hours", "days"))


class Rows:
    """Rows by id, given as a store gives them."""

    def __init__(self, rows=()):
        self.by_id = {row.id: row for row in rows}

    def of_version(self, number, after, until):
        return self._sorted(lambda row: ids.version_of(row.id) == number, after, until)

    def of_events(self, after, until):
        return self._sorted(lambda row: ids.is_event_run(row.id), after, until)

    def _sorted(self, wanted, after, until):
        rows = [row for row in self.by_id.values() if wanted(row) and after < ids.nominal_at(row.id) <= until]
        return iter(sorted(rows, key=lambda row: row.id))


def version(number, cadences, since, until=None, **more):
    definition = Definition(name=NAME, type="Bill", cadences=tuple(cadences), **more)
    return Version(number=number, definition=definition, since=since, until=until)


def known(*versions, spans=(), now=NOON, **job):
    last, first = versions[-1], versions[0]
    facts = {
        "ref": JobRef(SYSTEM_TENANT, NAME),
        "definition": last.definition,
        "origin": Origin.CODE,
        "version": last.number,
        "since": last.since,
        "anchor": first.since.replace(microsecond=0),
        "cursor": now,
        "attend_at": now,
    }
    return Known(
        job=Job(**facts | job),
        versions=versions,
        spans=spans,
        now=now,
        job_grace=10 * MINUTE,
        retention=30 * DAY,
    )


def row(at, status=Status.EXECUTED, *, number=1, **more):
    facts = {
        "tenant_id": SYSTEM_TENANT,
        "id": ids.occurrence_id(NAME, number, at),
        "type": "Bill",
        "due_at": at,
        "due_shard": "0",
        "created_by": "duetime",
        "payload": None,
        "status": status,
    }
    return Action(**facts | more)


def daily(*texts, since=NOON - 10 * DAY, **more):
    return known(version(1, texts or ("daily 09:00",), since), **more)


def told(facts, rows=(), *, start, end, limit=500):
    return explanation(timeline.timeline(facts, Rows(rows), start, end), limit)


def only(facts, *rows, at=NOON - 3 * HOUR):
    (entry,) = told(facts, rows, start=at - SECOND, end=at)
    return entry


NINE = NOON - 3 * HOUR
"""Of the day."""


class TestARow:
    @pytest.mark.parametrize("status", [each for each in Status if each is not Status.SKIPPED])
    def test_says_what_became_of_its_time(self, status):
        entry = only(daily(), row(NINE, status))
        assert (entry.at, entry.account, entry.action_id) == (NINE, status, row(NINE).id)
        assert (entry.cadences, entry.version, entry.count) == (("Daily_09_00",), 1, 1)

    def test_says_why_it_was_skipped(self):
        entry = only(daily(), row(NINE, Status.SKIPPED, skip_reason=SkipReason.OVERLAP, note="x was running"))
        assert (entry.account, entry.reason, entry.note) == (Account.SKIPPED, "overlap", "x was running")

    def test_that_was_skipped_as_missed_is_missed(self):
        entry = only(daily(), row(NINE, Status.SKIPPED, skip_reason=SkipReason.MISSED))
        assert (entry.account, entry.reason) == (Account.MISSED, "missed")

    def test_wins_over_a_span_and_a_pause(self):
        span = Span(kind=SpanKind.MISSED, start=NINE - HOUR, end=NINE)
        pauses = {"": Pause(since=NINE - HOUR, by="ana")}
        assert only(daily(spans=[span], pauses=pauses), row(NINE)).account is Account.EXECUTED

    def test_that_was_made_up_for_tells_when_it_ran(self):
        ran = Attempt(queued_at=NOON, started_at=NOON, instance="i", finished_at=NOON)
        entry = only(daily(), row(NINE, catches_up=True, attempts=(ran,)))
        assert entry.account is Account.EXECUTED
        assert entry.note == "missed at first, and made up for: it ran at 2026-03-27T12:00:00Z"

    def test_that_a_pause_holds_is_skipped_as_its_claim_would_find(self):
        later = NINE + DAY
        paused = daily(pauses={"": Pause(since=NOON, by="ana", reason="audit")})
        entry = only(paused, row(later, Status.PENDING), at=later)
        assert (entry.account, entry.reason, entry.note) == (
            Account.SKIPPED,
            "paused",
            "paused by ana: audit",
        )
        assert entry.action_id == row(later).id

    def test_that_waits_for_its_retry_runs_in_spite_of_a_pause(self):
        paused = daily(pauses={"": Pause(since=NINE - HOUR, by="ana", reason="audit")})
        entry = only(paused, row(NINE, Status.PENDING, attempt=1))
        assert (entry.account, entry.note) == (Account.PENDING, "")

    def test_is_pending_once_the_pause_over_it_has_ended_by_itself(self):
        over = Pause(since=NINE - HOUR, by="ana", reason="audit", until=NOON - MINUTE)
        entry = only(daily(pauses={"": over}), row(NINE, Status.PENDING))
        assert entry.account is Account.PENDING

    def test_is_pending_where_only_one_of_its_cadences_is_paused(self):
        later = NINE + DAY
        pauses = {"Daily_09_00": Pause(since=NOON, by="ana", reason="audit")}
        paused = daily("daily 09:00", "every 1h", pauses=pauses)
        assert only(paused, row(later, Status.PENDING), at=later).account is Account.PENDING

    def test_of_a_time_that_its_cadence_does_not_have_is_told_too(self):
        stray = NINE + MINUTE
        assert only(daily(), row(stray, cadence="Daily_09_00"), at=stray).action_id == row(stray).id

    def test_that_was_retired_by_a_drop_is_disabled(self):
        span = Span(kind=SpanKind.DISABLED, start=NINE - HOUR, end=NINE)
        retired = row(NINE, Status.SKIPPED, skip_reason=SkipReason.RETIRED)
        assert only(daily(spans=[span]), retired).reason == "disabled"

    def test_that_somebody_triggered_has_no_nominal_time(self):
        manual = row(NINE, id=ids.manual_run_id(NAME, 1, NINE))
        assert only(daily(), manual).action_id is None

    def test_that_a_later_version_retired_is_left_out(self):
        old, new = version(1, ["daily 09:00"], NINE - DAY, NINE), version(2, ["daily 21:00"], NINE)
        retired = row(NINE + DAY, Status.SKIPPED, skip_reason=SkipReason.RETIRED)
        found = told(known(old, new), [row(NINE), retired], start=NINE - HOUR, end=NINE + DAY)
        assert [(each.at, each.version) for each in found] == [(NINE, 1), (NINE + 12 * HOUR, 2)]


class TestWithoutARow:
    def test_a_span_tells_why(self):
        span = Span(kind=SpanKind.PAUSED, start=NINE - HOUR, end=NINE, by="ana", reason="audit")
        entry = only(daily(spans=[span]))
        assert (entry.account, entry.reason, entry.note) == (
            Account.SKIPPED,
            "paused",
            "paused by ana: audit",
        )

    def test_an_outage_is_missed(self):
        entry = only(daily(spans=[Span(kind=SpanKind.MISSED, start=NINE - HOUR, end=NINE)]))
        assert (entry.account, entry.reason) == (Account.MISSED, "missed")

    def test_that_somebody_paused_counts_more_than_an_outage(self):
        spans = [
            Span(kind=SpanKind.MISSED, start=NINE - HOUR, end=NINE),
            Span(kind=SpanKind.PAUSED, start=NINE - DAY, end=NINE + DAY, cadence="Daily_09_00"),
        ]
        assert only(daily(spans=spans)).reason == "paused"

    def test_a_time_at_the_start_of_a_span_is_not_in_it(self):
        span = Span(kind=SpanKind.PAUSED, start=NINE, end=NOON)
        assert only(daily(spans=[span])).account is Account.FORGOTTEN

    @pytest.mark.parametrize(
        ("pause", "reason"),
        [
            (Pause(since=NINE - SECOND, by="ana"), "paused"),
            (Pause(since=NINE, by="ana"), ""),
            (Pause(since=NINE - HOUR, by="ana", until=NINE), "paused"),
            (Pause(since=NINE - HOUR, by="ana", until=NINE - SECOND), "missed"),
        ],
    )
    def test_a_pause_that_lasts_explains_what_lies_in_it(self, pause, reason):
        assert only(daily(pauses={"": pause})).reason == reason

    def test_a_job_that_is_dropped_is_disabled_from_then_on(self):
        dropped = daily(dropped_at=NINE - HOUR)
        assert only(dropped).reason == only(dropped, at=NINE + DAY).reason == "disabled"
        assert only(dropped, at=NINE - DAY).reason == ""

    def test_a_paused_cadence_leaves_the_times_that_it_shares_with_another(self):
        texts, pauses = ("daily 09:00", "every 3h"), {"Daily_09_00": Pause(since=NINE - DAY, by="ana")}
        shared = only(daily(*texts, pauses=pauses), at=NINE + DAY)
        assert shared.account is Account.UPCOMING
        assert shared.cadences == ("Daily_09_00", "Every_3h")

    def test_before_the_cursor_its_row_is_forgotten(self):
        assert only(daily()).account is Account.FORGOTTEN

    def test_beyond_the_cursor_it_is_pending_until_the_grace_is_over(self):
        behind = {"cursor": NINE - DAY}
        assert only(daily(**behind, now=NINE + 10 * MINUTE)).account is Account.PENDING
        assert only(daily(**behind, now=NINE + 10 * MINUTE + SECOND)).account is Account.MISSED

    def test_ahead_it_is_upcoming_or_paused(self):
        ahead, pause = NINE + DAY, Pause(since=NOON, by="ana", until=NINE + DAY)
        assert only(daily(), at=ahead).account is Account.UPCOMING
        assert only(daily(pauses={"": pause}), at=ahead).reason == "paused"
        assert only(daily(pauses={"": pause}), at=ahead + DAY).account is Account.UPCOMING


class TestVersions:
    def test_a_time_at_the_very_end_of_a_version_is_the_old_ones(self):
        old, new = version(1, ["daily 09:00"], NINE - DAY, NINE), version(2, ["daily 09:00"], NINE)
        found = told(known(old, new), start=NINE - 2 * DAY, end=NINE + DAY)
        assert [(each.at, each.version) for each in found] == [(NINE, 1), (NINE + DAY, 2)]


class TestCalendars:
    def test_what_a_calendar_silences_is_told(self):
        facts = daily("daily 09:00 calendar=exclude:2026-03-26;name:feast")
        found = told(facts, start=NINE - 2 * DAY, end=NINE)
        assert [(each.at, each.account, each.reason) for each in found] == [
            (NINE - DAY, Account.CALENDAR, "calendar feast"),
            (NINE, Account.FORGOTTEN, ""),
        ]

    def test_what_it_moves_is_told_at_both_places(self):
        facts = daily("daily 09:00 days=sat calendar=exclude:sat,sun;instead:next_business_day", now=NINE)
        found = told(facts, start=NINE, end=NINE + 4 * DAY)
        assert [(each.at, each.account, each.note) for each in found] == [
            (NINE + DAY, Account.CALENDAR, "moved to 2026-03-30"),
            (NINE + 3 * DAY, Account.UPCOMING, "moved here by its calendar"),
        ]

    def test_a_time_that_another_cadence_keeps_is_a_nominal_one(self):
        facts = daily("daily 09:00 calendar=exclude:2026-03-27", "every 3h")
        entry = only(facts)
        assert entry.cadences == ("Every_3h",)
        assert entry.note.endswith("is silent: calendar exclude:2026-03-27")

    def test_silent_days_are_one_entry(self):
        facts = daily("every 1m calendar=exclude:sat,sun", now=NINE)
        found = [
            each for each in told(facts, start=NOON, end=NOON + 5 * DAY) if each.account is Account.CALENDAR
        ]
        assert [(each.at, each.ends_at, each.count) for each in found] == [
            (NOON + 12 * HOUR, NOON + 60 * HOUR - MINUTE, 2_880)
        ]


PARIS_SPRING = datetime(2026, 3, 29, 1, tzinfo=UTC)
PARIS_AUTUMN = datetime(2026, 10, 25, 1, tzinfo=UTC)


class TestChangesOfTheClocks:
    def test_a_time_that_was_moved_says_so(self):
        entry = only(daily("daily 02:30 tz=Europe/Paris"), at=PARIS_SPRING)
        assert entry.note == "moved: 02:30 did not exist, the clocks went forward to 03:00"
        assert (entry.local, entry.tz) == (datetime(2026, 3, 29, 3), "Europe/Paris")

    def test_what_a_gap_swallowed_is_an_entry(self):
        entry = only(daily("cron 0,30 2 * * * tz=Europe/Paris dst=eventbridge"), at=PARIS_SPRING)
        assert (entry.account, entry.at, entry.count) == (Account.GAP, PARIS_SPRING, 2)
        assert entry.local == datetime(2026, 3, 29, 2)
        assert entry.note.startswith("skipped: 02:00 to 02:30 (2 times) did not exist")

    def test_a_gap_and_a_time_at_its_end_are_both_told(self):
        facts = daily("cron */30 * * * * tz=Europe/Paris dst=eventbridge")
        found = told(facts, start=PARIS_SPRING - SECOND, end=PARIS_SPRING, limit=1)
        assert [each.account for each in found] == [Account.GAP, Account.UPCOMING]

    def test_both_passes_of_an_hour_are_told_apart_and_folded(self):
        facts = daily("every 10m tz=Europe/Paris")
        found = told(facts, start=PARIS_AUTUMN - 3 * HOUR, end=PARIS_AUTUMN + 3 * HOUR)
        assert [(each.count, each.note.partition(":")[0]) for each in found] == [
            (11, ""),
            (6, "doubled"),
            (6, "doubled"),
            (13, ""),
        ]


class TestRuns:
    def test_of_a_job_without_times_each_run_is_an_entry(self):
        manual = row(NINE, id=ids.manual_run_id(NAME, 1, NINE), created_by="ana")
        event = row(NINE, id=ids.event_run_id(NAME, NINE + SECOND, "e-1"), created_by="bus")
        facts = daily("manual", "on_event orders OrderPlaced")
        found = told(facts, [event, manual], start=NINE - HOUR, end=NOON)
        assert [(each.action_id, each.note) for each in found] == [
            (manual.id, "triggered by ana"),
            (event.id, ""),
        ]

    def test_of_a_job_that_runs_itself_each_pass_is_one(self):
        passes = [row(NINE + n * MINUTE) for n in range(3)]
        facts = known(version(1, ["every 1m"], NINE - DAY, runs_itself=True))
        found = told(facts, passes, start=NINE, end=NOON)
        assert [each.action_id for each in found] == [each.id for each in passes[1:]]


class TestFolds:
    def test_a_month_of_paused_seconds_is_one_entry(self):
        end = NOON + 31 * DAY
        facts = daily("every 1s", pauses={"": Pause(since=NOON - 9 * DAY, by="ana")})
        (entry,) = told(facts, start=NOON, end=end)
        assert (entry.at, entry.until, entry.count, entry.reason) == (NOON + SECOND, end, None, "paused")

    def test_a_change_of_the_clocks_parts_it(self):
        facts = daily("every 1s tz=Europe/Paris", pauses={"": Pause(since=NOON - 9 * DAY, by="ana")})
        found = told(facts, start=NOON, end=NOON + 31 * DAY)
        assert [(each.at, each.count) for each in found] == [
            (NOON + SECOND, None),
            (PARIS_SPRING, 1),
            (PARIS_SPRING + SECOND, None),
        ]

    def test_rows_are_never_folded(self):
        rows = [row(NOON - n * MINUTE) for n in range(3)]
        assert len(told(daily("every 1m"), rows, start=NOON - 3 * MINUTE, end=NOON)) == 3

    def test_so_many_looks_are_enough_for_one_call(self, monkeypatch):
        monkeypatch.setattr(explain, "MOST_LOOKS", 1_000)
        facts = daily("every 1s", "every 2s", pauses={"": Pause(since=NOON - DAY, by="ana")})
        found = told(facts, start=NOON, end=NOON + DAY, limit=10**9)
        assert found.next_start == found.entries[-1].ends_at == NOON + 1_000 * SECOND

    def test_two_cadences_at_each_second_are_walked_through_page_by_page(self, monkeypatch):
        monkeypatch.setattr(explain, "MOST_LOOKS", 1_000)
        facts = daily("every 1s", "cron * * * * * *", pauses={"": Pause(since=NOON - DAY, by="ana")})
        (entry,) = told(facts, start=NOON, end=NOON + DAY)
        assert entry.count == 1_000

    def test_a_year_of_silent_seconds_is_a_few_entries(self):
        facts = daily("every 1s calendar=include:2026-12-25", now=NOON)
        found = told(facts, start=NOON, end=NOON + 365 * DAY)
        assert [(each.account, each.count) for each in found] == [
            (Account.CALENDAR, None),
            (Account.UPCOMING, None),
            (Account.CALENDAR, None),
        ]
        assert found.entries[1].at == datetime(2026, 12, 25, tzinfo=UTC)
        assert found.entries[1].until == datetime(2026, 12, 25, 23, 59, 59, tzinfo=UTC)


TEXTS = (
    "daily 09:00 tz=Europe/Paris",
    "daily 02:30 tz=Europe/Paris",
    "daily 02:30 tz=Europe/Paris dst=eventbridge",
    "every 20m tz=America/St_Johns calendar=exclude:sun,2026-03-30",
    "every 30m tz=Europe/Paris window=22:00-03:30 dst=vixie",
    "every 1h calendar=exclude:sat,sun;instead:next_business_day tz=Africa/Cairo",
    "cron 15,45 * * * * tz=Australia/Lord_Howe calendar=include:mon,tue,2026-03-28",
    "interval 7m",
    "interval 90m days=mon-fri calendar=exclude:2026-10-26 tz=America/Santiago",
    "once 2026-03-29T02:30 tz=Europe/Paris",
)
CHANGES = (PARIS_SPRING, PARIS_AUTUMN, datetime(2026, 4, 5, 3, tzinfo=UTC))


@st.composite
def worlds(draw):
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
    names = ["", *{parse(text).name for each in versions for text in each.definition.cadences}]
    spans = [
        Span(
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
    facts = known(
        *versions,
        spans=spans,
        now=draw(moments()),
        cursor=draw(moments()),
        pauses=pauses,
        dropped_at=draw(st.none() | moments()),
    )
    start, end = sorted((draw(moments(-600)), draw(moments(0, 6 * 24 * 60))))
    window = (start, end)
    share = draw(st.integers(0, 4))
    rows = [
        row(at, draw(st.sampled_from([Status.EXECUTED, Status.PENDING])), number=number)
        for place, (number, at, _) in enumerate(nominal(facts, *window))
        if share and place % 5 < share and draw(st.booleans())
    ]
    return facts, rows, window


def nominal(facts, start, end):
    """Version, instant and cadences of each nominal time in (start, end], by the cadences alone."""
    for each in facts.versions:
        for due in stacked(facts, each).between(max(start, each.since), min(end, each.until or end)):
            yield each.number, due.at, due.cadences


def stacked(facts, each):
    return Stacked.of(each.definition.cadences, facts.job.anchor)


def silenced(facts, start, end):
    """Version and instant of each time that a calendar took and no cadence has."""
    for each in facts.versions:
        bounds = max(start, each.since), min(end, each.until or end)
        cadences = stacked(facts, each).cadences
        kept = {at for cadence in cadences for at in cadence.between(*bounds)}
        without = {
            at
            for cadence in cadences
            if cadence.scope.calendar
            for at in without_calendar(cadence).between(*bounds)
        }
        yield from ((each.number, at) for at in sorted(without - kept))


def gaps(facts, start, end):
    """Words on each gap that took times of a version in force."""
    for each in facts.versions:
        bounds = max(start, each.since), min(end, each.until or end)
        if bounds[0] < bounds[1]:
            for cadence in stacked(facts, each).cadences:
                yield from (one.words for one in explained(cadence, *bounds) if one.mark == "skipped")


def unfolded(facts, entries):
    """Each nominal time that the entries stand for."""
    for entry in entries:
        if entry.account in {Account.CALENDAR, Account.GAP}:
            continue
        each = next(one for one in facts.versions if one.number == entry.version)
        dues = list(stacked(facts, each).between(entry.at - SECOND, entry.ends_at))
        assert {due.cadences for due in dues} == {entry.cadences}
        assert entry.count in {None, len(dues)}
        yield from ((entry.version, due.at, due.cadences, entry) for due in dues)


@given(worlds(), st.sampled_from([1, 4, 10_000]))
@settings(deadline=None)
def test_every_nominal_time_is_accounted_for_exactly_once_and_nothing_else(world, many):
    facts, rows, window = world
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(timeline, "MANY", many)
        entries = told(facts, rows, start=window[0], end=window[1], limit=10**6).entries
    by_id = Rows(rows).by_id
    found = list(unfolded(facts, entries))
    assert [one[:3] for one in found] == list(nominal(facts, *window))
    for number, at, names, entry in found:
        standing = by_id.get(ids.occurrence_id(NAME, number, at))
        verdict = facts.of(standing, at, names)
        assert (entry.account, entry.reason) == (verdict.account, verdict.reason)
        assert verdict.note in entry.note
        assert entry.action_id == (standing and standing.id)


@given(worlds(), st.sampled_from([1, 4, 10_000]))
@settings(deadline=None)
def test_every_silenced_time_and_every_gap_is_told_exactly_once(world, many):
    facts, rows, window = world
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(timeline, "MANY", many)
        entries = told(facts, rows, start=window[0], end=window[1], limit=10**6).entries
    taken = [each for each in entries if each.account is Account.CALENDAR]
    expected = list(silenced(facts, *window))
    covering = [
        [each for each in taken if each.version == number and each.at <= at <= each.ends_at]
        for number, at in expected
    ]
    assert all(len(each) == 1 for each in covering)
    assert {each.at for each in taken} | {each.ends_at for each in taken} <= {at for _, at in expected}
    if many == 10_000:
        assert sum(each.count for each in taken) == len(expected)
    words = [part for each in entries if each.account is Account.GAP for part in each.note.split("; ")]
    assert set(words) == set(gaps(facts, *window))


@given(worlds(), st.sampled_from([1, 6]))
@settings(deadline=None)
def test_page_by_page_it_is_the_same(world, limit):
    facts, rows, (start, end) = world
    whole = told(facts, rows, start=start, end=end, limit=10**6).entries
    pages = []
    while start is not None and len(pages) < 3_000:
        page = told(facts, rows, start=start, end=end, limit=limit)
        assert len(page) <= limit + 1
        pages.extend(page)
        start = page.next_start
    assert pages == list(whole)


@given(worlds())
@settings(deadline=None)
def test_they_come_in_order(world):
    facts, rows, (start, end) = world
    entries = told(facts, rows, start=start, end=end, limit=10**6).entries
    places = [(each.at, each.ends_at) for each in entries]
    assert places == sorted(places)
    assert all(here[1] <= then[0] for here, then in pairwise(places))


def test_a_note_does_not_depend_on_where_a_window_begins():
    facts = daily("every 10m tz=Europe/Paris")
    alone = only(facts, at=PARIS_AUTUMN)
    assert alone.note.startswith("doubled")
