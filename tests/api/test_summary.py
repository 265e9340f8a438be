"""The summary of the last hours counts each ended run once."""

from datetime import timedelta

import pytest

from tests.api.conftest import ADA, OPERATOR

HOUR, MINUTE = timedelta(hours=1), timedelta(minutes=1)


@pytest.fixture
def summary(call_cloud):
    """Reads the summary."""

    def read(claims=OPERATOR, **query):
        return call_cloud("get-summary", query=query, claims=claims)

    return read


def test_each_run_of_a_job_is_counted_in_its_minute(summary, run_until, clock):
    run_until(clock.now() + 4 * HOUR + MINUTE)
    body = summary(minutes="240").json
    [hourly] = [row for row in body["names"] if row["name"] == "billing-hourly"]
    assert (hourly["kind"], hourly["executed"], sum(hourly["by_minute"])) == ("job", 4, 4)
    assert len(hourly["by_minute"]) == len(hourly["failed_by_minute"]) == 240
    assert sum(hourly["failed_by_minute"]) == hourly["failed"] == 0
    assert [index for index, count in enumerate(hourly["by_minute"]) if count] == [58, 118, 178, 238]
    assert body["total"]["executed"] == sum(minute["executed"] for minute in body["minutes"])
    assert body["lateness"][0] == {"up_to": 0.1, "count": body["total"]["executed"]}


def test_a_span_is_an_hour_by_default(summary, run_until, clock):
    run_until(clock.now() + 4 * HOUR)
    body = summary().json
    [hourly] = [row for row in body["names"] if row["name"] == "billing-hourly"]
    assert hourly["executed"] == 1


def test_a_tenant_sees_no_counts_of_another_one_or_of_codes_jobs(summary, run_until, clock):
    run_until(clock.now() + HOUR)
    body = summary(claims=ADA).json
    assert (body["names"], body["total"]["executed"]) == ([], 0)


@pytest.mark.parametrize("minutes", ["0", "1441", "many", "-1"])
def test_an_invalid_span_is_rejected(summary, minutes):
    response = summary(minutes=minutes)
    assert (response.status, response.code) == (422, "invalid-request")
    assert "minutes" in response.json["detail"]
