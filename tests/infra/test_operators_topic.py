"""The topic of operators: who may publish to it, its subscribers, and the budget that is published there."""

from tests.infra.alarms import statements_of_the_topic, topic_of
from tests.infra.synthesis import made_with, text


def test_a_deployment_without_alarms_has_no_topic_either():
    template = made_with(alarms=False)
    assert not template.of_type("AWS::CloudWatch::Alarm")
    assert topic_of(template) is None


def test_only_alarms_of_this_account_and_prefix_may_publish_and_only_with_tls(synthesised):
    denied, allowed = statements_of_the_topic(synthesised)
    assert (denied["Effect"], denied["Condition"]) == ("Deny", {"Bool": {"aws:SecureTransport": "false"}})
    assert allowed["Principal"] == {"Service": "cloudwatch.amazonaws.com"}
    assert allowed["Action"] == "sns:Publish"
    source = text(allowed["Condition"]["ArnLike"]["aws:SourceArn"])
    assert source.endswith(":<AWS::AccountId>:alarm:duetime-*")
    assert text(allowed["Condition"]["StringEquals"]["aws:SourceAccount"]) == "<AWS::AccountId>"


def test_one_address_gets_a_mail_of_each_alarm(synthesised):
    assert not synthesised.of_type("AWS::SNS::Subscription")
    mail = made_with(alarm_email="ops@example.com").one("AWS::SNS::Subscription")
    assert (mail["Protocol"], mail["Endpoint"]) == ("email", "ops@example.com")


def test_without_a_budget_there_is_none(synthesised):
    assert not synthesised.of_type("AWS::Budgets::Budget")


def test_a_daily_budget_is_published_on_the_topic_even_without_alarms():
    template = made_with(alarms=False, budget=20)
    budget = template.one("AWS::Budgets::Budget")
    assert budget["Budget"] == {
        "BudgetName": "duetime-daily",
        "BudgetType": "COST",
        "TimeUnit": "DAILY",
        "BudgetLimit": {"Amount": 20, "Unit": "USD"},
    }
    [notification] = budget["NotificationsWithSubscribers"]
    assert notification["Notification"] == {
        "NotificationType": "ACTUAL",
        "ComparisonOperator": "GREATER_THAN",
        "Threshold": 100,
        "ThresholdType": "PERCENTAGE",
    }
    assert notification["Subscribers"] == [
        {"SubscriptionType": "SNS", "Address": {"Ref": topic_of(template)}}
    ]
    services = [statement["Principal"] for statement in statements_of_the_topic(template)]
    assert {"Service": "budgets.amazonaws.com"} in services
