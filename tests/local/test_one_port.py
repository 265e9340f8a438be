"""One port serves the API, the bus for other processes, the console and the start page."""

import base64
import gzip
import json
from datetime import UTC, datetime
from http.client import HTTPConnection

import boto3
import pytest
from botocore.exceptions import ClientError
from werkzeug.test import Client, EnvironBuilder
from werkzeug.wrappers import Request, Response

from duetime.console import ConsoleConfig, Site
from duetime.local.cloud import LocalCloud
from duetime.local.gateway import LARGEST_BODY, LocalGateway, proxy_event, response_of
from duetime.local.options import LocalOptions
from duetime.local.wsgi_app import EXPORTS, JSON, START, WsgiApp
from duetime.settings import Settings


class Answers:
    """A handler that returns a given answer, and records the last event."""

    def __init__(self):
        self.answer, self.event = {"statusCode": 200, "body": "{}"}, None

    def __call__(self, event):
        self.event = event
        return self.answer


class Clock:
    def now(self):
        return datetime(2026, 3, 1, 12, tzinfo=UTC)


@pytest.fixture
def answers():
    return Answers()


@pytest.fixture
def built(tmp_path):
    (tmp_path / "assets").mkdir()
    (tmp_path / "index.html").write_text("<!doctype html>console")
    (tmp_path / "assets" / "main-1a.js").write_text("start()")
    return tmp_path


@pytest.fixture
def browser(answers, built):
    return Client(
        WsgiApp(
            LocalGateway(answers, Clock()),
            lambda _request: Response("the bus"),
            {START: lambda: "<!doctype html>page", EXPORTS: lambda: "export A=1\n"},
            lambda _request: Response("sent"),
            Site(ConsoleConfig("api/v1"), built),
        )
    )


def event_of(**request):
    return proxy_event(Request(EnvironBuilder(**request).get_environ()), now_ms=0)


def test_an_http_request_becomes_the_event_that_api_gateway_sends():
    event = event_of(
        path="/api/v1/actions/query",
        method="POST",
        query_string="a=1&a=2&b=",
        data='{"x": "ü"}',
        headers={"X-Trace": "t"},
    )
    assert event["httpMethod"] == "POST"
    assert event["path"] == "/api/v1/actions/query"
    assert event["queryStringParameters"] == {"a": "2", "b": ""}
    assert event["multiValueQueryStringParameters"] == {"a": ["1", "2"], "b": [""]}
    assert event["multiValueHeaders"]["X-Trace"] == ["t"]
    assert (event["body"], event["isBase64Encoded"]) == ('{"x": "ü"}', False)
    assert event["requestContext"]["stage"]


def test_a_request_without_query_and_body_has_null_for_them_as_on_aws():
    event = event_of(path="/api/v1/health")
    assert event["queryStringParameters"] is None
    assert event["multiValueQueryStringParameters"] is None
    assert event["body"] is None


def test_a_binary_body_is_encoded_in_base64():
    event = event_of(path="/api/v1/actions", method="POST", data=b"\xff\xfe")
    assert (base64.b64decode(event["body"]), event["isBase64Encoded"]) == (b"\xff\xfe", True)


def test_the_development_headers_set_the_caller():
    claims = event_of(path="/api/v1/health")["requestContext"]["authorizer"]["claims"]
    assert (claims["sub"], claims["custom:tenant_id"], claims["cognito:groups"]) == (
        "developer",
        "acme",
        "admins",
    )
    headers = {"X-Duetime-User": "eve@x.org", "X-Duetime-Tenant": "other", "X-Duetime-Groups": "viewer"}
    claims = event_of(path="/api/v1/health", headers=headers)["requestContext"]["authorizer"]["claims"]
    assert (claims["email"], claims["custom:tenant_id"], claims["cognito:groups"]) == (
        "eve@x.org",
        "other",
        "viewer",
    )


def test_an_arn_header_plays_a_service_that_signs():
    arn = "arn:aws:sts::123456789012:assumed-role/shop-checkout/till-4"
    context = event_of(path="/api/v1/me", headers={"X-Duetime-Arn": arn})["requestContext"]
    assert (context["identity"]["userArn"], context["authorizer"]) == (arn, None)
    assert event_of(path="/api/v1/me")["requestContext"]["identity"]["userArn"] is None


def test_the_function_gets_the_caller_without_the_development_headers():
    headers = {
        "x-duetime-user": "eve",
        "X-DUETIME-ARN": "arn:x",
        "X-Duetime-Tenant": "a",
        "X-Duetime-Groups": "b",
    }
    event = event_of(path="/api/v1/me", headers=headers)
    for received in (event["headers"], event["multiValueHeaders"]):
        assert not [name for name in received if "duetime" in name.lower()]


def test_a_result_becomes_a_response_with_all_its_headers():
    answer = {
        "statusCode": 201,
        "headers": {"Content-Type": "application/json"},
        "multiValueHeaders": {"Set-Cookie": ["a=1", "b=2"]},
        "body": base64.b64encode(b"{}").decode(),
        "isBase64Encoded": True,
    }
    response = response_of(answer)
    assert (response.status_code, response.get_data()) == (201, b"{}")
    assert response.headers.getlist("Set-Cookie") == ["a=1", "b=2"]
    assert response.content_type == "application/json"


@pytest.mark.parametrize("fail", [lambda _event: 1 / 0, lambda _event: None, lambda _event: {"no": "status"}])
def test_a_handler_without_a_result_is_a_502(fail, caplog):
    request = Request(EnvironBuilder(path="/api/v1/health").get_environ())
    assert LocalGateway(fail, Clock())(request).status_code == 502
    assert ("ZeroDivisionError" in caplog.text) is ("the API failed" in caplog.text)


def test_a_body_over_the_limit_is_rejected_before_the_function_runs(browser, answers):
    response = browser.post("/api/v1/actions", data=b"x" * (LARGEST_BODY + 1), content_type=JSON)
    assert response.status_code == 413
    assert response.json["title"]
    assert answers.event is None


def test_an_unknown_path_is_a_problem(browser):
    response = browser.get("/nowhere")
    assert (response.status_code, response.content_type) == (404, "application/problem+json")
    assert "/api/v1" in response.json["detail"]


def test_the_console_is_at_the_root(browser):
    answer = browser.get("/")
    assert answer.text == "<!doctype html>console"
    assert "script-src 'self'" in answer.headers["Content-Security-Policy"]
    assert browser.get("/assets/main-1a.js").text == "start()"
    assert browser.get("/config.json").json == {
        "api": "api/v1",
        "sign_in": None,
        "links": [],
        "runbook": None,
    }


def test_large_responses_are_compressed_for_clients_that_accept_it(browser, built, answers):
    (built / "assets" / "main-1a.js").write_text("start();" * 1_000)
    answers.answer = {"statusCode": 200, "body": "[1]" * 1_000}
    for path, text in (("/assets/main-1a.js", "start();" * 1_000), ("/api/v1/openapi.json", "[1]" * 1_000)):
        answer = browser.get(path, headers={"Accept-Encoding": "br, gzip;q=0.5"})
        assert answer.headers["Content-Encoding"] == "gzip"
        assert gzip.decompress(answer.data).decode() == text
        for accepted in ({}, {"Accept-Encoding": "gzip;q=0"}):
            plain = browser.get(path, headers=accepted)
            assert (plain.text, plain.headers.get("Content-Encoding")) == (text, None)
            assert "Accept-Encoding" in plain.headers["Vary"]


def test_a_file_that_the_browser_has_is_not_sent_again(browser):
    tag = browser.get("/").headers["ETag"]
    again = browser.get("/", headers={"If-None-Match": tag})
    assert (again.status_code, again.text) == (304, "")


@pytest.mark.parametrize("path", ["/assets/", "/assets/none.js", "/assets/../index.html", "/index.html"])
def test_other_files_of_the_console_are_not_served(browser, path):
    assert browser.get(path).status_code == 404


def test_the_start_page_is_at_the_root_if_no_console_is_built(browser, built):
    assert browser.get("/local").text == "<!doctype html>page"
    (built / "index.html").unlink()
    assert browser.get("/").text == "<!doctype html>page"


def test_the_exports_for_a_shell_are_plain_text(browser):
    exports = browser.get("/local/env")
    assert (exports.text, exports.mimetype) == ("export A=1\n", "text/plain")


def test_the_pages_allow_only_get(browser):
    for path in ("/", "/outbox"):
        response = browser.post(path)
        assert response.status_code == 405
        assert "GET" in response.headers["Allow"]


@pytest.mark.parametrize(
    "headers",
    [{"Origin": "https://evil.example"}, {"Host": "evil.example"}, {"Origin": "null"}],
)
def test_a_page_of_another_site_is_rejected(browser, answers, headers):
    for path in ("/", "/api/v1/health", "/outbox/mails"):
        assert browser.get(path, headers=headers).status_code == 403
    assert browser.post("/", headers={**headers, "X-Amz-Target": "AmazonSQS.ListQueues"}).status_code == 403
    assert answers.event is None


@pytest.mark.parametrize("content_type", [None, "text/plain", "application/x-www-form-urlencoded"])
def test_a_change_without_the_content_type_of_json_is_rejected(browser, answers, content_type):
    for method, path, data in (
        ("POST", "/api/v1/actions", b"{}"),
        ("POST", "/api/v1/actions/1/cancel", None),
        *([("PUT", "/api/v1/jobs/a-b/settings", b"{}")] if content_type is None else []),
    ):
        response = browser.open(
            path,
            method=method,
            data=data,
            content_type=content_type,
            headers={"Origin": "http://localhost:1"},
        )
        assert (response.status_code, answers.event) == (415, None)
        assert "Content-Type: application/json" in response.json["detail"]
    assert browser.options("/api/v1/actions").headers.get("Access-Control-Allow-Origin") is None


def test_a_post_without_a_body_and_a_delete_need_no_more_than_their_headers(browser, answers):
    assert browser.post("/api/v1/actions/1/cancel", content_type=JSON).status_code == 200
    assert browser.delete("/api/v1/jobs/a-b").status_code == 200
    assert answers.event["httpMethod"] == "DELETE"


def test_a_page_of_this_machine_is_allowed(browser):
    assert browser.get("/api/v1/health", headers={"Origin": "http://localhost:5173"}).status_code == 200


def test_signed_requests_go_to_the_bus_unless_they_are_signed_for_the_api(browser):
    def signed(service):
        return {
            "Authorization": f"AWS4-HMAC-SHA256 Credential=x/20260301/us-east-1/{service}/aws4_request, …"
        }

    assert browser.post("/", headers=signed("sqs")).text == "the bus"
    assert browser.get("/api/v1/health", headers=signed("execute-api")).text == "{}"


@pytest.mark.parametrize(
    "entry", [{"Source": "a", "DetailType": "b"}, {"Source": "a", "DetailType": "b", "Detail": "{"}]
)
def test_an_event_without_a_detail_is_refused(cloud, entry):
    body = json.dumps({"Entries": [entry]})
    status, text = request(cloud, "POST", "/", body, **{"X-Amz-Target": "AWSEvents.PutEvents"})
    assert (status, json.loads(text)["__type"]) == (400, "ValidationException")
    assert "Detail" in json.loads(text)["message"]


def request(cloud, method, path, body=None, **headers):
    connection = HTTPConnection(cloud.url.removeprefix("http://"))
    connection.request(method, path, body, headers)
    answer = connection.getresponse()
    text = answer.read().decode()
    connection.close()
    return answer.status, text


def test_everything_is_served_on_one_port(cloud, notes):
    order = json.dumps({"type": "note", "payload": {"text": "by http"}, "in": 0})
    headers = {"Content-Type": "application/json", "X-Duetime-Tenant": "other"}
    status, action = request(cloud, "POST", "/api/v1/actions", order, **headers)
    (run,) = notes.wait_for("by http")
    assert (status, run.id, run.tenant_id) == (201, json.loads(action)["id"], "other")
    _, page = request(cloud, "GET", "/local")
    assert "<code>note</code>" in page
    assert "http://" not in page.replace(cloud.url, "")
    with pytest.raises(ClientError, match="start it with --setup module:function"):
        boto3.client("sqs", endpoint_url=cloud.url).list_queues()


def test_users_and_services_have_the_permissions_of_their_roles(notes):
    settings = Settings(
        roles={"readers": "actions:read", "admins": "admin"},
        identities={"arn:aws:iam::123456789012:role/till": "globex readers"},
    )
    with LocalCloud(notes.app, LocalOptions(settings=settings)) as cloud:
        arn = "arn:aws:sts::123456789012:assumed-role/till/4"
        for headers, caller in (
            ({}, ("acme", "developer@localhost", ["admins"])),
            (
                {"X-Duetime-User": "eve@x.org", "X-Duetime-Groups": "readers"},
                ("acme", "eve@x.org", ["readers"]),
            ),
            ({"X-Duetime-Arn": arn}, ("globex", "till/4", ["readers"])),
        ):
            status, text = request(cloud, "GET", "/api/v1/me", **headers)
            me = json.loads(text)
            assert (status, me["tenant_id"], me["actor"], me["roles"]) == (200, *caller)
        stranger = {"X-Duetime-Arn": "arn:aws:iam::123456789012:user/eve"}
        assert request(cloud, "GET", "/api/v1/me", **stranger)[0] == 403
        assert request(cloud, "DELETE", "/api/v1/actions/x", **{"X-Duetime-Arn": arn})[0] == 403
