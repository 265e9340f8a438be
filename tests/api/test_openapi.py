"""The document describes every route: parameters, bodies, responses, problems and permissions."""

import json
import re
import tomllib
from pathlib import Path

import pytest
from openapi_spec_validator import validate

from duetime.api import PREFIX
from duetime.api.document_route import FILE as SERVED
from duetime.api.openapi.document import VERSION, every_route, generate
from duetime.model.permissions import Permission
from duetime.settings import Settings
from tests.api.conftest import sample_event

ROOT = Path(__file__).parents[2]
FILE = ROOT / "docs/openapi.json"


@pytest.fixture(scope="module")
def document():
    return generate(PREFIX)


def operations(document):
    return {
        f"{method.upper()} {path}": operation
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
    }


def test_the_file_in_docs_is_the_document(document):
    written = "python -m duetime.api.openapi docs/openapi.json renews it"
    assert json.loads(FILE.read_text()) == document, written


def test_the_served_file_is_the_document(document):
    assert json.loads(SERVED.read_text()) == document, (
        "python -m duetime.api.openapi docs/openapi.json writes it"
    )


def test_it_is_openapi(document):
    validate(document)


def test_it_has_the_packages_version(document):
    package = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert document["info"]["version"] == VERSION == package["version"]


def test_every_route_is_in_it_and_no_other(document):
    served = {f"{item.method} {item.path}".replace("<", "{").replace(">", "}") for item in every_route()}
    assert served == operations(document).keys()


BY_TOKEN = [f"POST /handovers/{{token}}/{verb}" for verb in ("complete", "fail", "heartbeat")]
OPERATION_IDS = [
    "approveAction",
    "backfillJob",
    "cancelAction",
    "cancelActions",
    "cancelBatch",
    "changeBackfill",
    "checkIn",
    "closeBatch",
    "completeAction",
    "completeHandOver",
    "countJobs",
    "dismissAction",
    "draftJob",
    "explainAction",
    "explainJob",
    "failAction",
    "failHandOver",
    "forecastLoad",
    "getAction",
    "getBackfill",
    "getBatch",
    "getCaller",
    "getDocument",
    "getHealth",
    "getHealthDetails",
    "getJob",
    "getJobDefinition",
    "getNotification",
    "getNotificationPreferences",
    "getRecount",
    "getSummary",
    "getUndelivered",
    "grantToRole",
    "heartbeatHandOver",
    "listActions",
    "listAuditEntries",
    "listBackfills",
    "listBatches",
    "listComingRuns",
    "listDeadLetters",
    "listGrants",
    "listJobDefinitions",
    "listJobRuns",
    "listJobs",
    "listLimits",
    "listMembers",
    "listNotifications",
    "listPauses",
    "listQuotas",
    "listTracebacks",
    "listUndelivered",
    "pauseJob",
    "pauseWork",
    "previewBackfill",
    "previewCadence",
    "readLog",
    "readMany",
    "readNotifications",
    "redriveAction",
    "redriveActions",
    "redriveBatch",
    "redriveUndelivered",
    "registerJob",
    "rejectAction",
    "replaceJob",
    "rescheduleAction",
    "resetLimit",
    "resumeJob",
    "resumeWork",
    "revokeFromRole",
    "rollBackJob",
    "scheduleAction",
    "search",
    "setJobSettings",
    "setLimit",
    "setNotificationPreferences",
    "skipNextRun",
    "triggerJob",
    "unregisterJob",
]
"""Clients name their generated functions after these, so an id never changes."""


def test_every_operation_has_a_unique_id(document):
    result = [operation["operationId"] for operation in operations(document).values()]
    assert sorted(result) == OPERATION_IDS


def test_every_operation_needs_a_permission_except_open_ones_and_me(document):
    result = operations(document)
    needed = {item["x-permission"] for item in result.values() if "x-permission" in item}
    assert {Permission(part) for either in needed for part in either.split(" or ")}
    assert {name for name, item in result.items() if "x-permission" not in item} == {
        "GET /health",
        "GET /openapi.json",
        "GET /me",
        "GET /reads",
        *BY_TOKEN,
    }
    opened = {name for name, item in result.items() if item.get("security") == []}
    assert opened == {"GET /health", "GET /openapi.json", *BY_TOKEN}


def test_every_schema_and_parameter_has_a_description(document):
    for name, schema in document["components"]["schemas"].items():
        assert schema.get("description"), name
    for name, operation in operations(document).items():
        assert operation["summary"], name
        for parameter in operation.get("parameters", ()):
            assert parameter["description"], (name, parameter["name"])


def test_every_field_is_described(document):
    schemas = document["components"]["schemas"]
    silent = [
        f"{name}.{field}"
        for name, schema in schemas.items()
        for field, result in schema.get("properties", {}).items()
        if not result.get("description")
    ]
    assert not silent, "say it in a docstring below the field"


def test_a_docstring_below_a_field_is_its_description(document):
    result = document["components"]["schemas"]["ActionView"]["properties"]
    assert result["due_at"]["description"] == "When it is due by now: retries and redrives move it."


def test_successes_have_their_real_statuses(document):
    result = operations(document)
    statuses = {name: {code for code in item["responses"] if code < "300"} for name, item in result.items()}
    assert statuses["POST /actions"] == {"200", "201"}
    assert statuses["DELETE /actions/{action_id}"] == {"200", "202"}
    assert statuses["POST /jobs/{name}/pause"] == {"204"}
    assert "content" not in result["POST /jobs/{name}/pause"]["responses"]["204"]


def test_an_open_route_documents_no_401_and_no_403(document):
    refused = operations(document)["GET /health"]["responses"].keys()
    assert not {"401", "403"} & refused


def ask_for_it(client, prefix=PREFIX):
    event = sample_event("health", path=f"{prefix}/openapi.json")
    event["requestContext"]["path"] = f"/prod{event['path']}"
    return client.send(event)


def test_it_is_served_to_every_caller_with_the_called_url(call, document):
    response = ask_for_it(call)
    assert (response.status, response.headers["Content-Type"]) == (200, "application/json")
    [server] = response.json["servers"]
    assert server["url"] == f"https://a1b2c3d4e5.execute-api.eu-west-1.amazonaws.com/prod{PREFIX}"
    assert response.json | {"servers": document["servers"]} == document


def test_its_server_has_the_prefix_of_the_deployment(call_over, store, document):
    response = ask_for_it(call_over(store, prefix="/admin"), "/admin")
    assert response.json["servers"][0]["url"].endswith("/admin")
    assert response.json["paths"] == document["paths"]


class TestWithATagOfItsOwn:
    @pytest.fixture
    def settings(self):
        return Settings(api_tag="Our scheduler")

    def test_all_operations_are_grouped_under_it(self, call, document):
        result = ask_for_it(call).json
        validate(result)
        assert {tag for operation in operations(result).values() for tag in operation["tags"]} == {
            "Our scheduler"
        }
        assert [item["name"] for item in result["tags"]] == ["Our scheduler"]
        assert result["components"] == document["components"]

    def test_a_tag_changes_nothing_else(self, call, document):
        result = operations(ask_for_it(call).json)
        others = {
            name: {**operation, "tags": ["Our scheduler"]} for name, operation in operations(document).items()
        }
        assert result == others


def test_without_a_tag_each_operation_has_the_tag_of_its_group(document):
    described = {item["name"] for item in document["tags"]}
    assert {tag for operation in operations(document).values() for tag in operation["tags"]} == described
    assert operations(document)["POST /actions"]["tags"] == ["actions"]


def test_the_page_of_the_api_has_every_route_with_its_permission(document):
    page = (ROOT / "docs/api.md").read_text()
    for name, operation in operations(document).items():
        needed = operation.get("x-permission")
        unguarded = "open" if operation.get("security") == [] else "any caller"
        assert re.search(rf"^{re.escape(name)} *\| {re.escape(needed or unguarded)} *\|", page, re.MULTILINE)
