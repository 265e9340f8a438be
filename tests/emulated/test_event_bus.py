"""Rules on the local cloud match, transform and deliver events as EventBridge does."""

import json
import logging
from datetime import UTC, datetime

import boto3
import pytest
from moto import mock_aws

from tests.emulated.event_bus import LocalEventBus, transformed

EVENT = {
    "id": "e-1",
    "time": "2026-03-01T12:00:00Z",
    "source": "bank",
    "detail-type": "Paid",
    "detail": {"order": 'o "1"', "cents": 5, "tags": ["a"], "none": None},
}
FUNCTION = "arn:aws:lambda:us-east-1:123456789012:function:duetime-dispatch"


def filled(template, **paths):
    return transformed({"InputTemplate": template, "InputPathsMap": paths}, EVENT)


def test_a_part_outside_of_quotes_is_inserted_as_json():
    template = '{"a": <order>, "b": <cents>, "c": <detail>, "d": <none>, "e": <type>, "f": "as <it> is"}'
    found = filled(
        template.replace("<it>", "it"),
        order="$.detail.order",
        cents="$.detail.cents",
        detail="$.detail",
        none="$.detail.none",
        type="$.detail-type",
    )
    assert found == {
        "a": 'o "1"',
        "b": 5,
        "c": EVENT["detail"],
        "d": None,
        "e": "Paid",
        "f": "as it is",
    }


def test_a_part_inside_of_quotes_is_inserted_as_text():
    assert filled(r'"order <order> \"<cents>\""', order="$.detail.order", cents="$.detail.cents") == (
        'order o "1" "5"'
    )


def test_the_root_path_selects_the_event():
    assert filled("<all>", all="$") == EVENT


def test_a_missing_part_is_inserted_as_nothing():
    assert filled('{"a": "<gone>"}', gone="$.detail.gone.deeper") == {"a": ""}


@pytest.mark.parametrize(
    ("template", "paths", "problem"),
    [
        ('{"a": <b>}', {}, "no path has that name"),
        ('{"a": <b>}', {"b": "$.detail[0]"}, "no path in dot notation"),
        ('{"a": <b>}', {"b": "detail"}, "no path in dot notation"),
        ('{"a": <b>}', {"b": "$.gone"}, "no JSON"),
        ('{"a": "<b>"}', {"b": "$.detail"}, "not a text"),
        ('{"a": 1}', {"a b": "$.id"}, "cannot name a path"),
        ('{"a": 1}', {"AWS.x": "$.id"}, "cannot name a path"),
        ('{"a": 1}', {f"p{index}": "$.id" for index in range(101)}, "101 paths"),
        (f'"{"x" * 8_200}"', {}, "AWS takes"),
    ],
)
def test_a_transformer_that_aws_would_reject_is_rejected(template, paths, problem):
    with pytest.raises(ValueError, match=problem):
        filled(template, **paths)


class Invocations:
    def __init__(self):
        self.made = []

    def invoke(self, function, event):
        self.made.append((function, event))


@pytest.fixture
def bus(monkeypatch):
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    with mock_aws():
        invocations = Invocations()
        bus = LocalEventBus(invocations, boto3.client("sqs"), doubles=0.0)
        bus.start()
        yield boto3.client("events"), invocations.made
        bus.stop()


def rule(events, name, *, pattern=None, state="ENABLED", target=FUNCTION, **more):
    events.put_rule(Name=name, EventPattern=json.dumps(pattern or {"source": ["bank"]}), State=state)
    events.put_targets(Rule=name, Targets=[{"Id": "1", "Arn": target, **more}])


def put(events, **more):
    entry = {"Source": "bank", "DetailType": "Paid", "Detail": '{"order": "o-1"}', **more}
    (answer,) = events.put_events(Entries=[entry])["Entries"]
    return answer


def test_a_function_gets_the_event_of_aws_with_the_id_that_its_sender_received(bus):
    events, made = bus
    rule(events, "one")
    answer = put(events, Time=datetime(2026, 3, 1, 12, 5, 7, tzinfo=UTC))
    ((function, event),) = made
    assert function == FUNCTION
    assert event == {
        "version": "0",
        "id": answer["EventId"],
        "detail-type": "Paid",
        "source": "bank",
        "account": "123456789012",
        "time": "2026-03-01T12:05:07Z",
        "region": "us-east-1",
        "resources": [],
        "detail": {"order": "o-1"},
    }


def test_a_disabled_rule_matches_nothing(bus):
    events, made = bus
    rule(events, "one", state="DISABLED")
    put(events)
    assert made == []
    events.enable_rule(Name="one")
    put(events)
    assert len(made) == 1


def test_a_pattern_or_transformer_that_aws_would_reject_is_logged_and_delays_no_other(bus, caplog):
    events, made = bus
    rule(events, "good")
    rule(events, "pattern", pattern={"source": [{"near": "bank"}]})
    rule(events, "template", InputTransformer={"InputTemplate": "<x>", "InputPathsMap": {}})
    with caplog.at_level(logging.ERROR, "duetime.local"):
        put(events)
    assert len(made) == 1
    assert "rule pattern matches nothing" in caplog.text
    assert "rule template: its input transformer" in caplog.text


def test_an_event_whose_detail_is_no_object_is_dropped(bus):
    events, made = bus
    rule(events, "one")
    with pytest.warns(UserWarning, match="dict"):
        put(events, Detail="[1]")
    assert made == []


def test_a_queue_gets_the_event_of_aws_once_for_each_matching_rule(bus):
    events, made = bus
    sqs = boto3.client("sqs")
    url = sqs.create_queue(QueueName="q")["QueueUrl"]
    queue = "arn:aws:sqs:us-east-1:123456789012:q"
    rule(events, "one", target=queue, pattern={"detail": {"order": ["o-1"]}})
    rule(events, "other", target=queue, pattern={"detail": {"order": ["o-2"]}})
    rule(events, "disabled", target=queue, state="DISABLED")
    rule(events, "missing", target=f"{queue}-that-is-not-there")
    answer = put(events, Time=datetime(2026, 3, 1, 12, 5, 7, tzinfo=UTC))
    (message,) = sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=10)["Messages"]
    assert made == []
    assert json.loads(message["Body"]) == {
        "version": "0",
        "id": answer["EventId"],
        "detail-type": "Paid",
        "source": "bank",
        "account": "123456789012",
        "time": "2026-03-01T12:05:07Z",
        "region": "us-east-1",
        "resources": [],
        "detail": {"order": "o-1"},
    }
