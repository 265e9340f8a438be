from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duetime import instant
from duetime.errors import InvalidTime

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)


def test_a_text_has_a_fixed_width_and_reads_as_utc():
    in_paris = datetime(2027, 6, 1, 9, tzinfo=timezone(timedelta(hours=2)))
    assert instant.text(in_paris) == "2027-06-01T07:00:00.000000Z"


@given(st.datetimes(timezones=st.just(UTC)), st.datetimes(timezones=st.just(UTC)))
def test_texts_sort_as_the_instants_do(one, other):
    assert (instant.text(one) < instant.text(other)) == (one < other)


@given(st.datetimes(timezones=st.just(UTC)))
def test_what_is_written_is_read_again(when):
    assert instant.parse(instant.text(when)) == when


@pytest.mark.parametrize("written", ["", "tomorrow", "2027-06-01", "2027-06-01T09:00:00", "١٢:٠٠", None, 17])
def test_what_is_no_instant_is_refused(written):
    with pytest.raises(InvalidTime):
        instant.parse(written)


def test_a_span_counts_from_now():
    assert instant.resolve(timedelta(hours=2), now=NOW) == NOW + timedelta(hours=2)


def test_a_past_time_is_a_time_like_any_other():
    assert instant.resolve(NOW - timedelta(days=1), now=NOW) == NOW - timedelta(days=1)


def test_a_local_time_is_read_on_its_zones_clock():
    assert instant.resolve(datetime(2026, 7, 1, 9), now=NOW, tz="Europe/Paris") == datetime(
        2026, 7, 1, 7, tzinfo=UTC
    )


def test_a_naive_time_without_a_zone_is_refused_and_the_cure_named():
    with pytest.raises(InvalidTime, match="is naive; make it aware, or pass tz='Europe/Paris'"):
        instant.resolve(datetime(2026, 7, 1, 9), now=NOW)


def test_a_time_that_the_clock_is_put_forward_over_is_refused():
    with pytest.raises(InvalidTime, match="does not exist in Europe/Paris"):
        instant.resolve(datetime(2026, 3, 29, 2, 30), now=NOW, tz="Europe/Paris")


@pytest.mark.parametrize(("fold", "hour"), [(0, 0), (1, 1)])
def test_a_time_that_occurs_twice_is_read_by_its_fold(fold, hour):
    local = datetime(2026, 10, 25, 2, 30, fold=fold)
    assert instant.resolve(local, now=NOW, tz="Europe/Paris") == datetime(2026, 10, 25, hour, 30, tzinfo=UTC)


def test_an_aware_time_with_a_zone_besides_is_refused():
    with pytest.raises(InvalidTime, match="has an offset of its own"):
        instant.resolve(NOW, now=NOW, tz="Europe/Paris")


@pytest.mark.parametrize("tz", ["Mars/X", "", "../etc", "Europe/paris\x00", "a" * 300])
def test_an_unknown_zone_is_refused(tz):
    with pytest.raises(InvalidTime, match="is not an IANA time zone"):
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
def test_a_time_far_out_of_range_is_refused(at):
    with pytest.raises(InvalidTime, match="outside the years 1970 to 2199"):
        instant.resolve(at, now=NOW)


@pytest.mark.parametrize("at", [datetime.max, datetime.min])
def test_a_local_time_at_the_edge_of_the_calendar_is_refused(at):
    with pytest.raises(InvalidTime):
        instant.resolve(at, now=NOW, tz="Pacific/Kiritimati")


@pytest.mark.parametrize("at", ["2027-06-01T09:00:00Z", 17, None])
def test_what_is_neither_a_datetime_nor_a_span_is_refused(at):
    with pytest.raises(InvalidTime, match="neither a datetime nor a timedelta"):
        instant.resolve(at, now=NOW)
