from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duetime import instant
from duetime.cadence import zones
from duetime.cadence.errors import UnknownZone
from duetime.errors import InvalidArgument, SettingsError
from duetime.settings import Settings

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)


def test_a_text_has_a_fixed_width_and_reads_as_utc():
    in_paris = datetime(2027, 6, 1, 9, tzinfo=timezone(timedelta(hours=2)))
    assert instant.text(in_paris) == "2027-06-01T07:00:00.000000Z"


@given(st.datetimes(timezones=st.just(UTC)), st.datetimes(timezones=st.just(UTC)))
def test_texts_sort_as_the_instants_do(one, other):
    assert (instant.text(one) < instant.text(other)) == (one < other)


@given(st.datetimes(timezones=st.just(UTC)))
def test_text_parses_to_same_instant(when):
    assert instant.parse(instant.text(when)) == when


@pytest.mark.parametrize("written", ["", "tomorrow", "2027-06-01", "2027-06-01T09:00:00", "١٢:٠٠", None, 17])
def test_invalid_text_is_rejected(written):
    with pytest.raises(InvalidArgument, match=r"ISO 8601|offset"):
        instant.parse(written)


def test_timedelta_counts_from_now():
    assert instant.resolve(timedelta(hours=2), now=NOW) == NOW + timedelta(hours=2)


def test_past_time_is_accepted():
    assert instant.resolve(NOW - timedelta(days=1), now=NOW) == NOW - timedelta(days=1)


def test_naive_time_uses_given_zone():
    assert instant.resolve(datetime(2026, 7, 1, 9), now=NOW, tz="Europe/Paris") == datetime(
        2026, 7, 1, 7, tzinfo=UTC
    )


def test_naive_time_without_zone_is_rejected_with_remedy():
    with pytest.raises(InvalidArgument, match="is naive; make it aware, or pass tz='Europe/Paris'"):
        instant.resolve(datetime(2026, 7, 1, 9), now=NOW)


def test_time_in_dst_gap_is_rejected():
    with pytest.raises(InvalidArgument, match="does not exist in Europe/Paris"):
        instant.resolve(datetime(2026, 3, 29, 2, 30), now=NOW, tz="Europe/Paris")


@pytest.mark.parametrize(("fold", "hour"), [(0, 0), (1, 1)])
def test_ambiguous_time_uses_fold(fold, hour):
    local = datetime(2026, 10, 25, 2, 30, fold=fold)
    assert instant.resolve(local, now=NOW, tz="Europe/Paris") == datetime(2026, 10, 25, hour, 30, tzinfo=UTC)


def test_aware_time_with_zone_is_rejected():
    with pytest.raises(InvalidArgument, match="has an offset of its own"):
        instant.resolve(NOW, now=NOW, tz="Europe/Paris")


@pytest.mark.parametrize("tz", ["Mars/X", "", "../etc", "Europe/paris\x00", "a" * 300])
def test_unknown_zone_is_rejected(tz):
    with pytest.raises(InvalidArgument, match="is not an IANA time zone"):
        instant.resolve(datetime(2026, 7, 1, 9), now=NOW, tz=tz)


@pytest.mark.parametrize(
    "at",
    [
        timedelta(days=999_999_999),
        timedelta(days=-999_999_999),
        datetime(2200, 1, 1, tzinfo=UTC),
        datetime(1969, 12, 31, tzinfo=UTC),
        datetime.max.replace(tzinfo=timezone(timedelta(hours=-12))),
        datetime.min.replace(tzinfo=timezone(timedelta(hours=12))),
    ],
)
def test_time_out_of_range_is_rejected(at):
    with pytest.raises(InvalidArgument, match="outside the years 1970 to 2199"):
        instant.resolve(at, now=NOW)


@pytest.mark.parametrize("at", [datetime.max, datetime.min])
def test_local_time_at_edge_of_calendar_is_rejected(at):
    with pytest.raises(InvalidArgument, match=r"1 to 9999|1970"):
        instant.resolve(at, now=NOW, tz="Pacific/Kiritimati")


@pytest.mark.parametrize("at", ["2027-06-01T09:00:00Z", 17, None])
def test_value_that_is_no_time_is_rejected(at):
    with pytest.raises(InvalidArgument, match="neither a datetime nor a timedelta"):
        instant.resolve(at, now=NOW)


@pytest.mark.parametrize(
    "name",
    [
        "localtime",
        "posixrules",
        "Factory",
        "posix/UTC",
        "right/UTC",
        "/etc/localtime",
        "../UTC",
        "Europe",
        "",
        5,
    ],
)
def test_what_is_no_zone_of_the_iana_list_is_rejected_for_actions_as_for_jobs(name):
    with pytest.raises(InvalidArgument, match="is not an IANA time zone"):
        instant.zone(name)
    if isinstance(name, str):
        with pytest.raises(UnknownZone):
            zones.zone(name)
    if isinstance(name, str) and name:
        with pytest.raises(SettingsError, match="IANA"):
            Settings(default_tz=name)


def test_actions_and_jobs_reject_the_same_names():
    assert (instant.NOT_ZONES, instant.OTHER_CLOCKS) == (zones.NOT_ZONES, zones.OTHER_CLOCKS)


LATE = datetime(2026, 3, 1, 12, 0, 0, 250_000, tzinfo=UTC)


@pytest.mark.parametrize(
    ("at", "precision", "due"),
    [
        (timedelta(seconds=5), "second", LATE.replace(second=6, microsecond=0)),
        (timedelta(milliseconds=1), "second", LATE.replace(second=1, microsecond=0)),
        (timedelta(milliseconds=750), "second", LATE.replace(second=1, microsecond=0)),
        (timedelta(seconds=5), "millisecond", LATE.replace(second=5)),
        (timedelta(0), "second", LATE),
        (-timedelta(seconds=1), "second", LATE - timedelta(seconds=1)),
        (LATE + timedelta(seconds=5), "second", LATE + timedelta(seconds=5)),
    ],
)
def test_a_span_ends_at_a_whole_second_unless_it_is_to_be_precise(at, precision, due):
    assert instant.due_time(at, now=LATE, precision=precision) == due


@given(st.timedeltas(timedelta(0), timedelta(days=60_000)), st.integers(0, 999_999))
def test_a_span_never_ends_early_nor_a_second_late(span, microsecond):
    now = LATE.replace(microsecond=microsecond)
    due_at = instant.due_time(span, now=now)
    assert now + span <= due_at < now + span + timedelta(seconds=1)


def test_another_precision_is_rejected():
    with pytest.raises(InvalidArgument, match=r"is no precision; use second or millisecond") as rejected:
        instant.due_time(timedelta(seconds=5), now=LATE, precision="minute")
    assert rejected.value.field == "precision"
