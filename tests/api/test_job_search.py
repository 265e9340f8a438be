"""Jobs found by text, state and name, and counted by state."""

from datetime import timedelta
from functools import partial

import pytest

from duetime import App, RetryPolicy, Run
from duetime.api import job_search
from duetime.api.app import make_api
from duetime.api.context import ApiContext, Health
from duetime.embedded.cloud import MemoryCloud
from duetime.memory.notes import MemoryBookmarks
from duetime.testing import TurnedClock
from tests.api.conftest import NOW, Client, empty_access
from tests.api.deployment import CLAIMS, Deployment

STATES = ("failing", "retrying", "running")
CLERK = CLAIMS | {"cognito:groups": "clerks"}


@pytest.fixture
def deployment():
    """A deployment with sixty jobs of a tenant."""
    made = Deployment(TurnedClock(NOW), roles={"clerks": "jobs:manage"})
    for number in range(60):
        title = {7: "Straße", 8: "Nightly bills"}.get(number, "")
        body = {"name": f"own-job{number:02d}", "type": "remark", "title": title}
        assert (
            made.ask("POST", "/jobs", claims=CLERK, body=body | {"category": f"c{number % 3}"}).status == 201
        )
    return made


def find(deployment, claims=CLERK, **query):
    """Return the names on all pages, and how many jobs each page compared."""
    names, compared, cursor = [], [], {}
    while cursor is not None:
        response = deployment.ask("GET", "/jobs", claims=claims, body=None, query={**query, **cursor})
        assert response.status == 200, response.text
        assert len(response.json["items"]) <= int(query.get("limit", 50))
        names += [item["name"] for item in response.json["items"]]
        compared.append(response.json["compared"])
        following = response.json["next_cursor"]
        cursor = {"cursor": following} if following else None
    return names, compared


def listed(response):
    assert response.status == 200, response.text
    return [item["name"] for item in response.json["items"]]


def test_a_text_is_found_in_names_titles_and_categories(deployment):
    assert find(deployment, q="JOB4")[0] == [f"own-job4{number}" for number in range(10)]
    assert find(deployment, q=" nightly ")[0] == ["own-job08"]
    assert find(deployment, q="STRASSE")[0] == ["own-job07"]
    assert find(deployment, q="c1")[0] == [f"own-job{number:02d}" for number in range(1, 60, 3)]
    assert find(deployment, q="nothing") == ([], [60])


def test_pages_follow_each_other_without_gaps(deployment, monkeypatch):
    every = [f"own-job{number:02d}" for number in range(1, 60, 3)]
    for size in (1, 7, 20):
        assert find(deployment, q="c1", limit=str(size))[0] == every
    monkeypatch.setattr(job_search, "MOST_COMPARED", 9)
    for size in (2, 7):
        names, compared = find(deployment, q="c1", limit=str(size))
        assert (names, sum(compared), max(compared)) == (every, 60, 9 if size == 7 else 6)
    monkeypatch.setattr(job_search, "_PAGE", 4)
    assert find(deployment, q="c1", limit="5")[0] == every


def test_a_list_without_filters_compares_nothing(deployment):
    assert find(deployment, q=" ") == ([f"own-job{number:02d}" for number in range(60)], [None, None])


def test_another_tenants_jobs_are_not_found(deployment):
    other = CLERK | {"custom:tenant_id": "globex"}
    assert find(deployment, claims=other, q="job") == ([], [0])
    assert listed(deployment.ask("GET", "/jobs", claims=other, query={"name": "own-job01"})) == []


def test_jobs_are_found_by_their_names_in_order(deployment):
    names = ["own-job09", "own-unknown", "own-job01", "own-job09"]
    several = {
        "multiValueQueryStringParameters": {"name": names},
        "queryStringParameters": {"name": names[-1]},
    }
    response = deployment.ask("GET", "/jobs", claims=CLERK, body=None, **several)
    assert listed(response) == ["own-job09", "own-job01"]
    assert response.json["next_cursor"] is None


@pytest.mark.parametrize("query", [{"q": "x"}, {"state": "failing"}, {"cursor": "own own-job01"}])
def test_names_are_the_only_selection_beside_themselves(deployment, query):
    response = deployment.ask("GET", "/jobs", claims=CLERK, query={"name": "own-job01", **query})
    assert response.status == 422


@pytest.mark.parametrize("query", [{"state": "odd"}, {"q": "x" * 201}, {"q": "x", "cursor": "odd"}])
def test_other_filters_are_rejected(deployment, query):
    assert deployment.ask("GET", "/jobs", claims=CLERK, query=query).status == 422


def in_state(ask, state):
    return listed(ask("GET", query={"state": state}))


def test_paused_jobs_are_found_and_counted(ask):
    assert in_state(ask, "paused") == []
    assert ask("POST", "/billing-nightly/pause", body={"cadence": "Weekly_mon_06_00"}).status == 204
    assert ask("POST", "/billing-hourly/pause", body={"reason": "x"}).status == 204
    assert in_state(ask, "paused") == ["billing-hourly", "billing-nightly"]
    assert find_counts(ask)["paused"] == 2


def find_counts(ask):
    return ask("GET", "/counts").json


class NoSingleReads:
    """A store whose rows are read in one request for a page."""

    def __init__(self, store):
        self._store = store

    def __getattr__(self, name):
        assert name != "get"
        return getattr(self._store, name)


def test_failing_retrying_and_running_jobs_are_found(clock, settings):
    app, while_running = App(), []

    @app.job("every 1h", name="shop-orders", retry=RetryPolicy(2, 600))
    def orders(run: Run) -> None:
        while_running.append({state: in_state(ask, state) for state in STATES})
        if clock.now() < NOW + timedelta(hours=1.5):
            raise ConnectionError("no driver")

    cloud = MemoryCloud(app, clock=clock, settings=settings)
    api = ApiContext(NoSingleReads(cloud.store), cloud.job_ports, app, clock, settings)
    ask = Client(make_api(api, Health(MemoryBookmarks()), empty_access())).jobs
    run_until = partial(run_all, cloud, clock)
    run_until(NOW + timedelta(hours=1, minutes=1))
    states = {state: in_state(ask, state) for state in STATES}
    assert states == {"failing": ["shop-orders"], "retrying": ["shop-orders"], "running": []}
    run_until(NOW + timedelta(hours=1, minutes=30))
    states = {state: in_state(ask, state) for state in STATES}
    assert states == {"failing": ["shop-orders"], "retrying": [], "running": []}
    assert [find_counts(ask)[state] for state in STATES] == [1, 0, 0]
    run_until(NOW + timedelta(hours=2, minutes=1))
    assert {state: in_state(ask, state) for state in STATES} == {state: [] for state in STATES}
    assert while_running[0] == {"failing": [], "retrying": [], "running": ["shop-orders"]}


def run_all(cloud, clock, until):
    while True:
        while delivery := cloud.turn():
            cloud.run(delivery)
        if (following := cloud.next_at()) > until:
            break
        clock.wait_until(following)
    clock.wait_until(until)


def test_the_counts_are_of_the_first_thousand_jobs(deployment, monkeypatch):
    counts = deployment.ask("GET", "/jobs/counts", claims=CLERK, body=None).json
    assert (counts["total"], counts["own"], counts["failing"], counts["more"]) == (60, 0, 0, False)
    monkeypatch.setattr(job_search, "MOST_COMPARED", 59)
    counts = deployment.ask("GET", "/jobs/counts", claims=CLERK, body=None).json
    assert (counts["total"], counts["more"]) == (59, True)
    monkeypatch.setattr(job_search, "MOST_COMPARED", 60)
    assert deployment.ask("GET", "/jobs/counts", claims=CLERK, body=None).json["more"] is False
