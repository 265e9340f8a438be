"""The event bus, its rules, and the mails and topics that notify people."""

from duetime.settings import Settings
from tests.infra.synthesis import Synthesised, stack, synth, text


def let_send(synthesised):
    """Who may send to a queue besides roles: the statement of each queue's own policy."""
    return {
        synthesised.resources[queue["Ref"]]["Properties"]["QueueName"]: statement
        for policy in synthesised.of_type("AWS::SQS::QueuePolicy")
        for statement in policy["PolicyDocument"]["Statement"]
        if statement["Effect"] == "Allow"
        for queue in policy["Queues"]
    }


def test_only_the_bus_sends_to_failures_and_notifications_by_their_policies(synthesised):
    assert let_send(synthesised).keys() == {"duetime-failures", "duetime-notifications"}
    statement = let_send(synthesised)["duetime-notifications"]
    assert statement["Principal"] == {"Service": "events.amazonaws.com"}
    rule = synthesised.resources[statement["Condition"]["ArnEquals"]["aws:SourceArn"]["Fn::GetAtt"][0]]
    assert rule["Type"] == "AWS::Events::Rule"


def test_only_this_deployments_failures_notify_people(synthesised):
    rule = synthesised.one("AWS::Events::Rule")
    assert rule["EventPattern"].pop("account") == [{"Ref": "AWS::AccountId"}]
    assert rule["EventPattern"] == {
        "source": ["duetime"],
        "detail": {
            "deployment": ["duetime-"],
            "$or": [
                {
                    "type": [
                        "action.failed",
                        "run.failed",
                        "job.failing",
                        "job.succeeding",
                        "undelivered.kept",
                        "breaker.opened",
                        "job.deadline_missed",
                        "job.deadline_at_risk",
                        "job.silent",
                        "action.approval_requested",
                        "run.approval_requested",
                    ]
                },
                {"type": ["run.skipped"], "action": {"depth": [{"numeric": [">", 8]}]}},
            ],
        },
    }
    [target] = rule["Targets"]
    queue = synthesised.resources[target["Arn"]["Fn::GetAtt"][0]]["Properties"]
    assert queue["QueueName"] == "duetime-notifications"


def test_rules_of_jobs_may_call_dispatch_and_failures_go_to_the_failure_queue(synthesised):
    permission = synthesised.one("AWS::Lambda::Permission", Principal="events.amazonaws.com")
    called = permission["FunctionName"]["Fn::GetAtt"][0]
    assert synthesised.function_names[called] == "duetime-dispatch"
    assert text(permission["SourceArn"]).endswith(":rule/duetime-*")
    statement = let_send(synthesised)["duetime-failures"]
    assert statement["Principal"] == {"Service": "events.amazonaws.com"}
    assert statement["Action"] == "sqs:SendMessage"
    assert statement["Condition"] == {"ArnLike": {"aws:SourceArn": permission["SourceArn"]}}


def test_rules_of_another_bus_are_named_with_it():
    there = synth(settings=Settings(event_bus="orders"))
    assert text(there.one("AWS::Lambda::Permission", Principal="events.amazonaws.com")["SourceArn"]).endswith(
        ":rule/orders/duetime-*"
    )
    put = [right for right in there.rights("deploy") if "events:PutRule" in right["Action"]]
    assert [text(permission["Resource"]).rpartition(":")[2] for permission in put] == [
        "rule/orders/duetime-*"
    ]


def test_with_events_off_nothing_is_published_or_sent():
    made, scheduler = stack(settings=Settings(events="off"))
    assert not {"publish", "notify"} & Synthesised.from_stack(made).functions().keys()
    assert scheduler.notifications is None


def test_the_stack_creates_the_bus_of_its_own_name_and_no_other():
    own = synth(settings=Settings(event_bus="duetime-events")).one("AWS::Events::EventBus")
    assert own["Name"] == "duetime-events"
    assert not synth(settings=Settings(event_bus="orders")).of_type("AWS::Events::EventBus")


def test_mails_are_sent_from_one_address_and_by_this_deployments_templates_alone():
    synthesised = synth(settings=Settings(mail_from="duetime@example.com"))
    [mails] = [right for right in synthesised.rights("notify") if "ses:SendTemplatedEmail" in right["Action"]]
    assert [text(mail).rpartition(":")[2] for mail in mails["Resource"]] == [
        "identity/*",
        "configuration-set/*",
        "template/duetime-*",
    ]
    assert mails["Condition"] == {"StringEquals": {"ses:FromAddress": "duetime@example.com"}}
    assert len(synthesised.of_type("AWS::SES::Template")) == 44


def test_the_api_knows_the_topic_that_is_made(synthesised):
    topics = [text(synthesised.environment(name)["DUETIME_TOPIC_ARN"]) for name in ("api", "notify")]
    assert topics[0] == topics[1]


def test_a_mail_service_that_is_away_for_hours_needs_no_redrive(synthesised):
    queue = synthesised.one("AWS::SQS::Queue", QueueName="duetime-notifications")
    tries = queue["RedrivePolicy"]["maxReceiveCount"]
    assert queue["VisibilityTimeout"] * tries >= 23 * 3_600
    assert queue["VisibilityTimeout"] > synthesised.functions()["notify"]["Timeout"]


def test_an_existing_topic_is_not_created():
    arn = "arn:aws:sns:eu-west-1:123456789012:ops"
    synthesised = synth(settings=Settings(topic_arn=arn))
    assert [topic["TopicName"] for topic in synthesised.of_type("AWS::SNS::Topic")] == ["duetime-alarms"]
    [publish] = [right for right in synthesised.rights("notify") if "sns:Publish" in right["Action"]]
    assert publish["Resource"] == arn
