"""The last recount over HTTP, for operators alone."""

from datetime import timedelta

import pytest

from duetime.api.app import make_api
from duetime.api.context import ApiContext, Health
from duetime.model.recount import BEGUN, BOOKMARK
from tests.api.conftest import ADA, OPERATOR, Client, empty_access, jobs_app

HOUR = timedelta(hours=1)


@pytest.fixture
def ask(cloud, clock, settings):
    api = ApiContext(cloud.store, cloud.job_ports, jobs_app(), clock, settings, cloud.undelivered_ports)
    client = Client(make_api(api, Health(cloud.bookmarks), empty_access()))
    return lambda claims=OPERATOR: client("get-recount", claims=claims)


def test_before_the_first_recount_there_is_none(ask):
    assert ask().json == {"last": None, "begun_at": None}


def test_the_last_recount_has_its_counts_and_no_findings(ask, cloud, clock):
    cloud.steps.recount(stop_at=clock.now() + HOUR)
    state = ask().json
    assert state["begun_at"] is None
    assert (state["last"]["found"], state["last"]["findings"], state["last"]["unread"]) == (0, [], [])
    assert state["last"]["times"].keys() == {"executed", "failed", "cancelled", "skipped", "missed", "open"}


def test_a_recount_that_goes_on_is_shown_beside_the_last(ask, cloud, clock):
    cloud.steps.recount(stop_at=clock.now() + HOUR)
    last = ask().json["last"]
    cloud.steps.recount(stop_at=clock.now())
    assert BEGUN in cloud.bookmarks.read(BOOKMARK)
    assert ask().json == {"last": last, "begun_at": "2026-03-01T12:00:00Z"}


def test_only_operators_get_it(ask):
    assert (ask(ADA).status, ask(ADA).code) == (403, "forbidden")
