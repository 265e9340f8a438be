"""The console, its sign-in, and the ways to a person: what responds, and what is missing."""

import json
from datetime import timedelta

import boto3
import pytest

from duetime.model.notification import Notification, NotificationKind
from duetime.verify.pages import check_pages
from duetime.verify.recipients import alarms_reach_someone

PAGE = b'<link href="assets/a.css"><script src="assets/b.js"></script><div id="root"></div>'
SIGN_IN = {"url": "https://sign.example", "issuer": "https://issuer.example/pool", "client_id": "c-1"}
URL = "https://api.example/prod/"
ISSUER = "https://issuer.example/pool/.well-known/openid-configuration"


def site(sign_in=SIGN_IN, **changes):
    files = {
        URL: PAGE,
        f"{URL}assets/a.css": b"",
        f"{URL}assets/b.js": b"",
        f"{URL}config.json": json.dumps({"api": "api/v1", "sign_in": sign_in}).encode(),
        ISSUER: b"{}",
    }
    files |= changes

    def fetch(url):
        if url.startswith("https://sign.example/login?client_id=c-1&"):
            return 200, b""
        found = files.get(url)
        return (404, b"") if found is None else (200, found)

    return fetch


def states(fetch, *, is_named=True):
    return {
        result.name: (result.state, result.actual) for result in check_pages(URL, fetch, is_named=is_named)
    }


def test_a_console_and_its_sign_in_respond():
    assert states(site()) == {"console": ("ok", "the page and 2 files"), "sign-in": ("ok", "both respond")}


def test_a_console_without_sign_in_is_complete():
    assert states(site(sign_in=None))["sign-in"] == ("skipped", "this console has none")


@pytest.mark.parametrize(("is_named", "state"), [(True, "failed"), (False, "skipped")])
def test_a_missing_page_fails_only_if_the_operator_named_it(is_named, state):
    found = states(site(**{URL: None}), is_named=is_named)
    assert found == {"console": (state, f"no console at {URL} (404)")}


@pytest.mark.parametrize("name", ["assets/b.js", "config.json"])
def test_a_missing_file_is_named(name):
    [(state, actual)] = states(site(**{f"{URL}{name}": None})).values()
    assert (state, actual.endswith(name)) == ("failed", True)


def test_an_issuer_that_does_not_respond_is_named():
    assert states(site(**{ISSUER: None}))["sign-in"] == ("failed", "issuer: 404")


def make_alarm(name, *topics):
    boto3.client("cloudwatch").put_metric_alarm(
        AlarmName=name,
        AlarmActions=topics,
        Namespace="duetime",
        MetricName="failed",
        Statistic="Sum",
        Period=60,
        EvaluationPeriods=1,
        Threshold=1,
        ComparisonOperator="GreaterThanOrEqualToThreshold",
    )


def test_an_alarm_with_a_subscriber_is_fired(mocked_aws):
    sns = boto3.client("sns")
    topic = sns.create_topic(Name="duetime-alarms")["TopicArn"]
    make_alarm("duetime-canary", topic)
    make_alarm("duetime-failed", topic)
    assert alarms_reach_someone("duetime-", "verify-1").actual == (
        "no subscriber of: duetime-canary, duetime-failed"
    )
    sns.subscribe(TopicArn=topic, Protocol="sqs", Endpoint="arn:aws:sqs:eu-west-1:123456789012:q")
    found = alarms_reach_someone("duetime-", "verify-1")
    assert (found.state, found.actual) == ("ok", "2 alarms; duetime-failed was fired: look for its message")
    [fired] = boto3.client("cloudwatch").describe_alarms(AlarmNames=["duetime-failed"])["MetricAlarms"]
    assert (fired["StateValue"], "verify-1" in fired["StateReason"]) == ("ALARM", True)


def test_without_alarms_the_prefix_is_the_remedy(mocked_aws):
    found = alarms_reach_someone("other-", "verify-1")
    assert (found.state, found.actual, found.remedy) == (
        "failed",
        "no alarm's name begins with other-",
        "name the deployment's prefix: --prefix",
    )


def test_without_rights_the_reason_is_the_result(mocked_aws, monkeypatch):
    monkeypatch.delenv("AWS_DEFAULT_REGION")
    monkeypatch.setenv("AWS_CONFIG_FILE", "none")
    assert alarms_reach_someone("duetime-", "verify-1").state == "failed"


NOTIFIED = "a dead letter is notified (default)"


def result_of(deployment):
    return next(result for result in deployment.verify(notify=True).results if result.name == NOTIFIED)


def test_a_failure_that_is_listed_for_its_tenant_passes(deploy):
    deployment = deploy()
    advance = deployment.wait_until

    def notify(instant):
        advance(instant)
        for row in deployment.cloud.actions("failed"):
            if '"notify":true' in row.payload.replace(" ", ""):
                made = Notification(
                    id=row.id,
                    kind=NotificationKind.DEAD_LETTERED,
                    tenant_id=row.tenant_id,
                    at=deployment.now(),
                    facts={"id": row.id, "type": row.type, "failure_reason": "x"},
                )
                deployment.inbox.inbox.add(made, expires_at=deployment.now() + timedelta(days=1))

    deployment.wait_until = notify
    found = result_of(deployment)
    assert (found.state, found.actual) == ("ok", "listed in the console")
    assert [event["detail-type"] for event in deployment.cloud.events()] == ["action.failed"]


def test_a_failure_that_nobody_is_notified_of_fails_the_check(deploy):
    deployment = deploy()
    found = result_of(deployment)
    assert (found.state, found.actual) == ("failed", "no notification was listed")
    assert deployment.cloud.actions("failed") == ()
