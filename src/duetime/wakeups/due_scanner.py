"""Scan windows of the due index, and send a message for each due row.

The sweep, the wheel and the catch-up use it. A scan reads the index, then the rows. It wakes pending rows,
and processing rows whose lease has ended. The claim makes needless messages harmless.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any, NamedTuple

from duetime import instant
from duetime.clock import Clock
from duetime.errors import BackendMisconfigured, BackendUnavailable, DuetimeError, truncate
from duetime.ids import DEFAULT_WORKER
from duetime.jobs.trusted_reading import KnownPauses
from duetime.model.action import Action, Status
from duetime.model.deployed_shards import FORMER_IS_ACCEPTED
from duetime.model.work_pause import LOOKED_AHEAD, work_of
from duetime.ports.action_store import ActionStore
from duetime.ports.actions import DamagedRow, DuePage
from duetime.ports.backends import Backends
from duetime.ports.wakeups import Bookmarks
from duetime.settings import DUE_SHARDS, MOST_DUE_SHARDS
from duetime.wakeups.due_messages import (
    CALLS_IN_TURN,
    WHEEL_SLEEPS,
    PhaseSleep,
    ReportStuck,
    SetAside,
    message_of,
    send_wakes,
    sum_of,
)

log = logging.getLogger(__name__)

ReportDamaged = Callable[[Sequence[DamagedRow]], None]
"""Stores rows that no step can read as undelivered."""

PAGE = 100
_CURSOR, _PROBE = "cursor ", "probe "


SURPLUS_BOOKMARK = "surplus-shards"
"""By surplus shard: ``holds rows``, or the end of the day for which an empty one is read; and `_NUMBER`."""

_NUMBER = "number"
"""The setting of the last pass, if it is not the default."""
_HOLDS_ROWS = "holds rows"


class DueShards:
    """The due shards that passes read: those of the setting, and surplus ones that may hold rows.

    A row stores its shard. If `due_shards` was lowered, or a caller has a higher number than the stack, rows
    are in shards beyond the setting. The passes read those too:

    - For a day after the setting was lowered, they read all shards of the number before: callers may have
      that number for as long, and the wheel is the only wake of their far actions.
    - The sweep and the wheel have bookmarks of each shard. If one is of an unknown shard, all possible shards
      are probed at once; the deep sweep probes them every six hours. Shards with rows are read until they are
      empty.
    """

    def __init__(self, store: ActionStore, bookmarks: Bookmarks, clock: Clock) -> None:
        self._store, self._bookmarks, self._clock = store, bookmarks, clock

    def known(self, marked: Iterable[str] | None = None) -> Sequence[str]:
        """Return the shards to read.

        Args:
            marked: the shards of which a pass has bookmarks; None for another reader, which writes nothing.
        """
        own, shards = self._store.due_shards, {*(marked or ())}
        marks = self._bookmarks.read(SURPLUS_BOOKMARK)
        if marked is not None and int(marks.get(_NUMBER, DUE_SHARDS)) != len(own):
            marks = self._after_change(marks)
        surplus = sorted(_surplus(marks, own), key=_number)
        if shards - {*own, *surplus}:
            return self.probe()
        return [*own, *surplus]

    def probe(self) -> Sequence[str]:
        """Return the setting's shards and the surplus ones to read, and store which these are."""
        own, marks = self._store.due_shards, self._bookmarks.read(SURPLUS_BOOKMARK)
        now = instant.text(self._clock.now())
        former = {shard: until for shard, until in _surplus(marks, own).items() if now < until != _HOLDS_ROWS}
        others = [shard for shard in map(str, range(len(own), MOST_DUE_SHARDS)) if shard not in former]
        held = [shard for shard in others if self._has_rows(shard)]
        if held:
            log.warning(
                "rows in surplus due shards: due_shards was lowered, or a caller has a higher number",
                extra={"due_shards": len(own), "surplus": held},
            )
        surplus = former | dict.fromkeys(held, _HOLDS_ROWS)
        number = {_NUMBER: marks[_NUMBER]} if _NUMBER in marks else {}
        if surplus | number != marks:
            self._bookmarks.write(SURPLUS_BOOKMARK, surplus | number)
        return [*own, *sorted(surplus, key=_number)]

    def _after_change(self, marks: Mapping[str, str]) -> Mapping[str, str]:
        """Store the setting's new number; for a day, the shards of a higher one before are read."""
        own = self._store.due_shards
        until = instant.text(self._clock.now() + FORMER_IS_ACCEPTED)
        before = map(str, range(len(own), int(marks.get(_NUMBER, DUE_SHARDS))))
        after = {**_surplus(marks, own), **dict.fromkeys(before, until), _NUMBER: str(len(own))}
        self._bookmarks.write(SURPLUS_BOOKMARK, after)
        return after

    def _has_rows(self, shard: str) -> bool:
        page = self._store.due(shard, after=None, until=instant.LATEST, limit=1, cursor=None)
        return bool(page.entries)


def _surplus(marks: Mapping[str, str], own: Collection[str]) -> dict[str, str]:
    return {shard: mark for shard, mark in marks.items() if shard not in own and shard != _NUMBER}


def _number(shard: str) -> int:
    return int(shard) if shard.isdecimal() else MOST_DUE_SHARDS


class DueWindow(NamedTuple):
    """A part of one due shard: after the mark `start`, up to and including `until`.

    A mark is the text of an instant, or the cursor of a page, because thousands may share one due time.
    `name` names the bookmark. A look at held rows passes over those that no pause covers.
    """

    name: str
    shard: str
    start: str | None
    until: datetime
    is_look: bool = False


@dataclass(frozen=True, slots=True)
class ScanResult:
    """The result of a pass."""

    sent: int = 0
    failed_shards: tuple[str, ...] = ()
    is_complete: bool = True
    """False if the time ran out or a shard failed; the next pass continues there."""
    oldest_due_age: float = 0.0
    """Seconds by which the oldest row that was neither running nor held was late; 0 without one."""
    set_aside: tuple[SetAside, ...] = ()
    """Rows whose queue does not exist, or denies them."""

    def plus(self, other: ScanResult) -> ScanResult:
        """Return the sum of both."""
        if other is _NOTHING or self is _NOTHING:
            return self if other is _NOTHING else other
        return ScanResult(
            self.sent + other.sent,
            tuple(sorted({*self.failed_shards, *other.failed_shards})),
            self.is_complete and other.is_complete,
            max(self.oldest_due_age, other.oldest_due_age),
            sum_of([*self.set_aside, *other.set_aside]),
        )


_NOTHING, _CUT_SHORT = ScanResult(), ScanResult(is_complete=False)
"""The results of most windows; they are compared by identity, since most windows are empty."""


class _ScannedWindow(NamedTuple):
    """The result of one window; the next pass continues at `mark`, which is None if this one never began."""

    window: DueWindow
    passed: ScanResult
    mark: str | None


class DueScanner:
    """Wakes the rows of windows, one window after another, or in parallel with an executor's `map`."""

    def __init__(
        self,
        backends: Backends,
        *,
        pauses: KnownPauses | None = None,
        report_damaged: ReportDamaged = lambda _rows: None,
        report_stuck: ReportStuck = lambda _text: None,
        parallel_map: Callable[..., Iterable[Any]] = map,
        in_phase: bool = False,
    ) -> None:
        self._store, self._queues, self._routes = backends.store, backends.queues, backends.routes
        self._clock, self._settings, self._pauses = backends.clock, backends.settings, pauses
        self._report_damaged, self._report_stuck = report_damaged, report_stuck
        self._map, self._in_phase, self._begun = parallel_map, in_phase, dict[str, datetime]()
        self.shards = DueShards(backends.store, backends.bookmarks, backends.clock)

    def empty_shards(self, windows: Iterable[DueWindow], *, stop_at: datetime) -> Collection[str]:
        """Return the shards without an entry in their windows, by one read of each shard.

        A shard is left out if its read fails, does not begin before `stop_at`, or finds an entry, and if the
        pass before was cut short in one of its windows. Such windows are scanned one by one.
        """
        by_shard: dict[str, list[DueWindow]] = {}
        for window in windows:
            by_shard.setdefault(window.shard, []).append(window)
        never = instant.EARLIEST
        ordered = sorted(by_shard, key=lambda shard: self._begun.get(_PROBE + shard, never))
        found = self._map(lambda shard: shard if self._is_empty(by_shard[shard], stop_at) else None, ordered)
        return {shard for shard in found if shard is not None}

    def _is_empty(self, windows: Sequence[DueWindow], stop_at: datetime) -> bool:
        starts = [window.start for window in windows if window.start is not None]
        now = self._clock.now()
        if now >= stop_at or len(starts) < len(windows) or _are_behind(windows):
            return False
        shard, until = windows[0].shard, max(window.until for window in windows)
        self._begun[_PROBE + shard] = now
        try:
            after = min(map(_instant, starts))
            page = self._store.due(shard, after=after, until=until, limit=1, cursor=None)
        except (DuetimeError, ValueError, TypeError, LookupError, OverflowError) as error:
            log.warning("shard not probed", extra={"shard": shard, "reason": truncate(error)})
            return False
        return not page.entries and page.cursor is None

    def wake(self, windows: Iterable[DueWindow], *, stop_at: datetime) -> tuple[ScanResult, dict[str, str]]:
        """Scan the windows until `stop_at`; a failure ends only its own window.

        The windows that were begun least recently come first: those whose calls hang starve no others.

        Returns:
            The result, and the marks of the begun windows by name.
        """
        total = _NOTHING
        marks: dict[str, str] = {}
        now, never = self._clock.now(), instant.EARLIEST
        ordered = sorted(windows, key=lambda window: self._begun.get(window.name, never))
        sleep = None if _are_behind(ordered) else self._phase_sleep(stop_at)
        for woken in self._map(lambda window: self._wake_one(window, stop_at, sleep), ordered):
            total = total.plus(woken.passed)
            self._remember(woken, now)
            if woken.mark is not None:
                marks[woken.window.name] = woken.mark
        for aside in total.set_aside:
            log.error("rows set aside", extra={"queue": aside.queue, "reason": aside.text})
            self._report_stuck(aside.text)
        return total, marks

    def is_look_due(self, since: datetime | None, now: datetime, late: Sequence[timedelta]) -> bool:
        """Return whether a sweep must look at what pauses hold; False if they cannot be read, or not used."""
        skew = self._settings.clock_skew
        try:
            return self._pauses is not None and self._pauses.is_look_due(since, now, late, skew)
        except DuetimeError:
            return False  # it stays due

    def _phase_sleep(self, stop_at: datetime) -> PhaseSleep | None:
        if not self._in_phase:
            return None
        fewest = self._settings.made.sleeps_from
        return PhaseSleep(self._clock, stop_at, fewest=fewest, longest=WHEEL_SLEEPS, in_turn=CALLS_IN_TURN)

    def _remember(self, woken: _ScannedWindow, now: datetime) -> None:
        if woken.mark is not None or woken.passed.failed_shards:
            self._begun[woken.window.name] = now

    def _wake_one(self, window: DueWindow, stop_at: datetime, sleep: PhaseSleep | None) -> _ScannedWindow:
        passed, mark = _NOTHING, None
        try:
            for sent, mark in self._pages(window, stop_at, sleep):  # noqa: B007 - the last mark stands after the loop
                passed = passed.plus(sent)
        except (DuetimeError, ValueError, TypeError, LookupError, OverflowError) as error:
            log.warning("shard not finished", extra={"shard": window.shard, "reason": truncate(error)})
            return _ScannedWindow(
                window, passed.plus(ScanResult(failed_shards=(window.shard,), is_complete=False)), mark
            )
        is_complete = mark is not None and not is_cursor(mark)
        return _ScannedWindow(window, passed if is_complete else passed.plus(_CUT_SHORT), mark)

    def _pages(
        self, window: DueWindow, stop_at: datetime, sleep: PhaseSleep | None
    ) -> Iterator[tuple[ScanResult, str]]:
        after, cursor = _read(window.start)
        while self._clock.now() < stop_at:
            page = self._store.due(window.shard, after=after, until=window.until, limit=PAGE, cursor=cursor)
            cursor = page.cursor
            sent = self._send(page, sleep, window) if page.entries else _NOTHING
            yield sent, end_of(window) if cursor is None else _CURSOR + cursor
            if cursor is None:
                return

    def _send(self, page: DuePage, sleep: PhaseSleep | None, window: DueWindow) -> ScanResult:
        now = self._clock.now()
        damaged: list[DamagedRow] = []
        rows = self._store.get_rows([entry.ref for entry in page.entries], damaged=damaged)
        self._report_damaged(damaged)
        ready = {row.ref: self._ready_at(row, now, window) for row in rows if self._may_run(row, now)}
        waiting = [row for row in rows if ready.get(row.ref, instant.LATEST) <= now + LOOKED_AHEAD]
        messages = [message_of(row) for row in waiting]
        asides = send_wakes(
            messages,
            self._queues,
            self._routes,
            self._clock,
            start=self._settings.start,
            sleep=sleep,
            leaving=BackendMisconfigured,
        )
        late = [row for row in waiting if row.concurrency is None]  # others may wait for a slot
        ages = [(now - ready[row.ref]).total_seconds() for row in late]
        return ScanResult(
            len(waiting) - sum(aside.number for aside in asides),
            oldest_due_age=max([0.0, *ages]),
            set_aside=asides,
        )

    def _may_run(self, row: Action, now: datetime) -> bool:
        """Return whether a row is pending, or its run must have died."""
        if row.status is Status.PROCESSING and row.lease_until is not None:
            return row.lease_until + self._settings.clock_skew < now
        return row.status is Status.PENDING

    def _ready_at(self, row: Action, now: datetime, window: DueWindow) -> datetime:
        """Return from when on a run of a row may begin; `LATEST` if that is not known.

        If the pauses cannot be read, the due time counts: then no run begins, and the row's age shows that.
        """
        if self._pauses is None or (now - row.due_at < self._settings.grace and not window.is_look):
            return row.due_at
        work = work_of(row, self._routes.queue_for(row.type) or DEFAULT_WORKER)
        try:
            if window.is_look and not self._pauses.may_cover(work):
                return instant.LATEST
            return self._pauses.ready_at(work, late=self._settings.grace, is_first=row.attempt == 0)
        except BackendUnavailable:
            return row.due_at


def _are_behind(windows: Iterable[DueWindow]) -> bool:
    """Return whether the pass before was cut short in one of the windows: then no sleep delays the rest."""
    return any(window.start is not None and is_cursor(window.start) for window in windows)


def end_of(window: DueWindow) -> str:
    """Return the mark of a window that has been read to its end."""
    return _text(window.until)


def is_cursor(mark: str) -> bool:
    """Return whether a mark is in the middle of a window."""
    return mark.startswith(_CURSOR)


_text, _instant = lru_cache(maxsize=64)(instant.text), lru_cache(maxsize=64)(instant.parse)
"""All shards of a band end at one instant, and begin at another."""


@lru_cache(maxsize=64)
def _read(mark: str | None) -> tuple[datetime | None, str | None]:
    if mark is None:
        return None, None
    if is_cursor(mark):
        return None, mark.removeprefix(_CURSOR)
    return instant.parse(mark), None
