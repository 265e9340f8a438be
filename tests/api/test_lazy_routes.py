"""The API imports the handlers of a route when a request first needs them."""

import pytest

from duetime.api import routes
from duetime.api.openapi.document import every_route
from duetime.api.routes import LazyRouteTable
from tests.cases import for_each
from tests.facts.test_imports import loaded_by

PREFIX = "/api/v1"
ROUTES = {f"{route.method} {route.path}": route for route in every_route()}
FIND_AN_ACTION = f"""
from duetime.api.routes import LazyRouteTable
assert LazyRouteTable(None, None, None, "{PREFIX}").find("{PREFIX}/actions/an-action")
"""


def lazy_table():
    return LazyRouteTable(None, None, None, PREFIX)


@for_each("name", sorted(ROUTES))
def test_every_route_is_found(name):
    route = ROUTES[name]
    path = f"{PREFIX}{route.path}".replace("<", "").replace(">", "")
    assert lazy_table().find(path).route(route.method).operation_id == route.operation_id


@pytest.mark.parametrize(
    "path", ["", "/", PREFIX, f"{PREFIX}/", f"{PREFIX}/nothing", f"{PREFIX}//jobs", "/jobs"]
)
def test_no_other_path_is_found(path):
    assert lazy_table().find(path) is None


def test_a_cold_start_loads_no_route_and_no_resolver():
    loaded = loaded_by("import duetime.lambdas.api")
    assert not loaded & {"aws_lambda_powertools", "duetime.scheduler", "duetime.api.dispatch"}
    assert not {route.handler.__module__ for route in ROUTES.values()} & loaded


def test_a_request_loads_the_routes_with_its_first_segment():
    loaded = loaded_by(FIND_AN_ACTION)
    assert {route.handler.__module__ for route in ROUTES.values()} & loaded == {
        "duetime.api.scheduling",
        "duetime.api.bulk_actions",
        "duetime.api.attempts",
        "duetime.api.hand_overs",
    }


def test_a_thread_that_loads_a_group_while_another_one_does_has_the_same_handlers(monkeypatch):
    """A second handler of a route would be registered beside the first."""
    table, path, found = lazy_table(), f"{PREFIX}/jobs", []
    load = routes._routes

    def meanwhile(*parts):
        monkeypatch.setattr(routes, "_routes", load)
        found.append(table.find(path))
        return load(*parts)

    monkeypatch.setattr(routes, "_routes", meanwhile)
    found.append(table.find(path))
    first, second = (match.route("GET").handler for match in found)
    assert first.__self__ is second.__self__
