"""The search for clock changes, against the compiled IANA files of all zones."""

from __future__ import annotations

import struct
import zoneinfo
from datetime import UTC, datetime, timedelta
from importlib import resources
from itertools import pairwise
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from duetime.cadence import UnknownZone, cron, daily, every
from duetime.cadence.zones import PROBE_EVERY, zone
from tests.cadence.strategies import ZONES, zone_params

UNTIL = datetime(2038, 1, 1, tzinfo=UTC)
OLD = (
    "Africa/Freetown",
    "Africa/Tunis",
    "America/Juneau",
    "Asia/Shanghai",
    "Europe/Paris",
    "Europe/Riga",
    "Europe/Vienna",
)
"""Zones with many or unusual clock changes before 1945."""


def file_of(name: str) -> bytes:
    for folder in zoneinfo.TZPATH:
        if (path := Path(folder, name)).is_file():
            return path.read_bytes()
    return resources.files("tzdata.zoneinfo").joinpath(*name.split("/")).read_bytes()


def changes_in_file(name: str) -> list[tuple[int, int, int]]:
    """Return (instant, offset before, offset after) of each change in a compiled file (RFC 8536, 64-bit)."""
    data = file_of(name)
    head = ">4s1s15s6I"
    _, _, _, isut, isstd, leap, times, types, chars = struct.unpack_from(head, data)
    at = 44 + times * 5 + types * 6 + chars + leap * 8 + isstd + isut
    _, _, _, isut, isstd, leap, times, types, chars = struct.unpack_from(head, data, at)
    at += 44
    instants = struct.unpack_from(f">{times}q", data, at)
    kinds = data[at + 8 * times : at + 9 * times]
    offsets = [struct.unpack_from(">l", data, at + 9 * times + 6 * kind)[0] for kind in range(types)]
    found = []
    before = offsets[0]
    for instant, kind in zip(instants, kinds, strict=True):
        if offsets[kind] != before:
            found.append((instant, before, offsets[kind]))
        before = offsets[kind]
    return found


def changes_found(name: str, first: int) -> list[tuple[int, int, int]]:
    where, at, end = zone(name), first, int(UNTIL.timestamp())
    found = []
    while at < end:
        span = where.span(at)
        if span.after != span.offset:
            found.append((span.end, span.offset, span.after))
        at = span.end
    return found


@pytest.mark.parametrize("name", zone_params(ZONES))
def test_every_change_of_a_zone_is_found_to_the_second(name):
    first = int(datetime(1860 if name in OLD else 1960, 1, 1, tzinfo=UTC).timestamp())
    written = [change for change in changes_in_file(name) if first < change[0] < UNTIL.timestamp()]
    last = written[-1][0] if written else 0

    assert [change for change in changes_found(name, first) if change[0] <= last] == written


def test_two_changes_of_a_zone_are_further_apart_than_the_steps_of_the_search():
    closest = min(
        later[0] - earlier[0] for name in ZONES for earlier, later in pairwise(changes_in_file(name))
    )

    assert closest > PROBE_EVERY


@pytest.mark.parametrize(
    ("tz", "expression", "after", "expected"),
    [
        ("Australia/Lord_Howe", "15 2 * * *", "2026-10-03T12:00Z", "2026-10-03T15:30Z"),
        ("Antarctica/Troll", "30 2 * * *", "2026-03-28T12:00Z", "2026-03-29T01:00Z"),
        ("Antarctica/Troll", "30 1 * * *", "2026-10-24T12:00Z", "2026-10-24T23:30Z"),
        ("Pacific/Apia", "0 9 30 * *", "2011-12-01T00:00Z", "2011-12-30T10:00Z"),
        ("Pacific/Apia", "0 9 * * *", "2011-12-30T10:00Z", "2011-12-30T19:00Z"),
        ("America/Sao_Paulo", "0 0 * * *", "2018-11-03T12:00Z", "2018-11-04T03:00Z"),
        ("Asia/Pyongyang", "15 23 * * *", "2018-05-04T12:00Z", "2018-05-04T14:45Z"),
        ("Europe/Volgograd", "30 1 * * *", "2020-12-26T12:00Z", "2020-12-26T21:30Z"),
        ("Asia/Gaza", "30 1 * * *", "2040-10-26T12:00Z", "2040-10-26T22:30Z"),
        ("America/Juneau", "0 12 18 10 *", "1867-10-01T00:00Z", "1867-10-17T20:57:41Z"),
    ],
)
def test_changes_of_any_size_are_handled(tz, expression, after, expected):
    found = cron(expression, tz=tz).next_after(datetime.fromisoformat(after))

    assert found == datetime.fromisoformat(expected)


def test_an_occurrence_on_a_skipped_day_runs_once_at_the_next_midnight():
    start, end = datetime(2011, 12, 29, tzinfo=UTC), datetime(2011, 12, 31, tzinfo=UTC)
    local = [
        at.astimezone(ZoneInfo("Pacific/Apia"))
        for at in daily("09:00", tz="Pacific/Apia").between(start, end)
    ]

    assert [f"{at:%d %H:%M}" for at in local] == ["29 09:00", "31 00:00", "31 09:00"]


@pytest.mark.parametrize(
    "name", ["Mars/X", "europe/pariss", "", "localtime", "right/UTC", "../etc/passwd", "Europe", "a" * 500]
)
def test_an_unknown_zone_is_rejected_by_name(name):
    with pytest.raises(UnknownZone):
        cron("0 0 * * *", tz=name)


def test_the_error_of_an_unknown_zone_names_a_similar_one():
    with pytest.raises(UnknownZone, match="did you mean Europe/Paris"):
        daily("09:00", tz="Europe/Pari")


@pytest.mark.parametrize("tz", ["Asia/Kolkata", "Europe/Paris", "Pacific/Kiritimati", "Etc/GMT+12"])
def test_the_calendar_may_end_without_an_error(tz):
    edge = datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC)

    assert every(minutes=5, tz=tz).next_after(edge) is None
    assert daily("09:00", tz=tz).next_after(edge - timedelta(days=3)) is not None
    assert daily("09:00", tz=tz).next_after(datetime(1, 1, 1, tzinfo=UTC)) is not None
