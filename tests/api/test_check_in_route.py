"""``PUT /check-ins/NAME``: each call moves the deadline of its name."""

from datetime import timedelta

import pytest

from duetime import App, check_ins
from duetime.settings import Settings
from tests.api.conftest import shop_app

DAY = 86_400


@pytest.fixture
def app(request):
    """The app of the other tests, with check-ins; without, if the test is about that."""
    app = App()
    app.include(shop_app(), *(() if "without" in request.node.name else (check_ins,)))
    return app


def test_the_first_call_begins_and_further_ones_move_the_deadline(call, clock):
    first = call("check-in")
    assert first.status == 201
    assert first.headers["Location"] == f"/prod/api/v1/actions/{first.json['id']}"
    assert first.json["type"] == "check-in"
    clock.wait_until(clock.now() + timedelta(hours=20))
    again = call("check-in", body={"within": 2 * DAY})
    assert (again.status, again.json["id"]) == (200, first.json["id"])
    assert again.json["due_at"] == f"{clock.now() + timedelta(days=2):%Y-%m-%dT%H:%M:%SZ}"


def test_each_name_has_its_own(call):
    other = call("check-in", path="/api/v1/check-ins/report")
    assert other.status == 201
    assert other.json["id"] != call("check-in").json["id"]


@pytest.mark.parametrize("within", [59, 366 * DAY + 1, "1h", None])
def test_a_time_out_of_range_is_rejected(call, within):
    response = call("check-in", body={"within": within})
    assert (response.status, response.code) == (422, "invalid-request")
    assert response.json["errors"][0]["where"] == "within"


def test_a_name_with_other_characters_is_rejected(call):
    response = call("check-in", path="/api/v1/check-ins/a b")
    assert (response.status, response.code) == (422, "invalid-payload")


def test_without_the_handler_in_the_app_it_is_rejected(call):
    response = call("check-in")
    assert (response.status, response.code) == (422, "unknown-type")
    assert response.json["detail"].endswith("; check-ins need app.include(duetime.check_ins) in the app")


class TestAReader:
    @pytest.fixture
    def settings(self):
        return Settings(roles={"everyone": "actions:read"})

    def test_may_not_check_in(self, call):
        assert (call("check-in").status, call("check-in").code) == (403, "forbidden")
