"""What each function writes for CloudWatch.

Lines in its Embedded Metric Format, held against the format's own rules.
"""

import json
from datetime import timedelta

import boto3
import pytest

from duetime import Scheduler
from duetime.aws import job_store
from duetime.clock import SystemClock
from duetime.errors import BackendUnavailable, SettingsError
from duetime.lambdas.emf import write_metrics
from duetime.lambdas.metrics_buffer import MetricsBuffer, deployment_of, published
from duetime.model.job import JobRef
from duetime.model.metric import Metric
from duetime.ports.meter import Subject
from duetime.settings import Settings
from examples.billing import SendReceipt
from tests.functions.conftest import Context, sample

UNITS = {"Seconds", "Milliseconds", "Count"}
MOST = 100


def values_of(line, metric):
    """What a line tells of a metric: a number alone, or a list of them."""
    value = line[metric["Name"]]
    return value if isinstance(value, list) else [value]


def hold_against_the_format(line):
    """What CloudWatch asks of a line; one that breaks a rule is dropped without a word."""
    about = line["_aws"]
    assert set(about) == {"Timestamp", "CloudWatchMetrics"}
    assert isinstance(about["Timestamp"], int)
    now = SystemClock().now().timestamp() * 1_000
    assert now - 14 * 86_400_000 < about["Timestamp"] < now + 7_200_000
    for directive in about["CloudWatchMetrics"]:
        assert directive["Namespace"] == "duetime"
        assert 1 <= len(directive["Metrics"]) <= MOST
        for names in directive["Dimensions"]:
            assert 1 <= len(names) <= 30
            assert all(isinstance(line[name], str) and 0 < len(line[name]) <= 1_024 for name in names)
        for metric in directive["Metrics"]:
            assert metric["Unit"] in UNITS
            values = values_of(line, metric)
            assert 1 <= len(values) <= MOST
            assert all(isinstance(value, float) for value in values)


@pytest.fixture
def metered(capsys):
    """What was written since it was last asked: name → dimensions → values. Other lines are logs."""

    def read():
        lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
        found = {}
        for line in (line for line in lines if "_aws" in line):
            hold_against_the_format(line)
            [directive] = line["_aws"]["CloudWatchMetrics"]
            for metric in directive["Metrics"]:
                for names in directive["Dimensions"]:
                    place = tuple(line[name] for name in names)
                    told = found.setdefault(metric["Name"], {}).setdefault(place, [])
                    told += values_of(line, metric)
        return found

    return read


class TestTheFunction:
    def test_arm_counts_what_the_stream_shows_under_the_deployment_and_under_the_type(
        self, function, metered
    ):
        function("arm")(sample("arm"), Context())
        assert metered() == {"scheduled": {("duetime",): [1], ("duetime", "unknown"): [1]}}

    def test_arm_names_the_types_that_a_deploy_has_published(self, function, deploy, metered):
        deploy()
        metered()
        event = sample("arm")
        event["Records"] *= 3
        function("arm")(event, Context())
        [alone, typed] = metered()["scheduled"].items()
        assert (alone, typed[1]) == ((("duetime",), [3]), [3])

    def test_arm_counts_nothing_of_a_batch_that_comes_again(self, function, deployed, metered, monkeypatch):
        arm = function("arm")
        boto3.client("sqs").delete_queue(QueueUrl=deployed.queues["default"])
        monkeypatch.setattr("duetime.aws.faults._CURES", {})
        arm(sample("arm"), Context())
        assert metered() == {}

    def test_work_tells_of_the_run_with_its_lateness(self, function, metered):
        scheduler = Scheduler.from_env(tenant_id="acme", actor="billing-service")
        action = scheduler.schedule(SendReceipt(order="o-1"), at=timedelta(seconds=-5))
        function("work")(_message_of(action), Context())
        told = metered()
        assert set(told) == {"executed", "lateness", "run_time", "attempts"}
        for places in told.values():
            assert set(places) == {("duetime",), ("duetime", "send-receipt")}
        assert told["executed"]["duetime",] == [1]
        assert told["lateness"]["duetime", "send-receipt"][0] >= 5_000

    def test_work_writes_for_an_invocation_that_fails_too(self, function, metered):
        scheduler = Scheduler.from_env(tenant_id="acme", actor="billing-service")
        action = scheduler.schedule(SendReceipt(order="o-1"), at=timedelta(0))
        event = _message_of(action)
        event["Records"].append({"messageId": "2"})
        with pytest.raises(KeyError):
            function("work")(event, Context())
        assert metered()["executed"]["duetime",] == [1]

    @pytest.mark.parametrize(
        ("name", "sent"), [("sweep", {}), ("catch_up", {"catch_up_sent": {("duetime",): [1]}})]
    )
    def test_the_passes_tell_how_overdue_the_oldest_row_is(self, function, metered, name, sent):
        scheduler = Scheduler.from_env(tenant_id="acme", actor="billing-service")
        scheduler.schedule(SendReceipt(order="o-1"), at=timedelta(minutes=-7))
        function(name)(sample(name), Context())
        told = metered()
        [[age]] = told.pop("oldest_due_age").values()
        assert 420 <= age < 480
        assert told == sent

    def test_the_passes_tell_of_nothing_overdue_too(self, function, metered):
        function("sweep")(sample("sweep"), Context())
        assert metered() == {"oldest_due_age": {("duetime",): [0]}}

    def test_salvage_counts_what_it_keeps(self, function, metered):
        scheduler = Scheduler.from_env(tenant_id="acme", actor="billing-service")
        action = scheduler.schedule(SendReceipt(order="o-1"), at=timedelta(seconds=-5))
        event = sample("undelivered")
        event["Records"][0]["body"] = event["Records"][0]["body"].replace(
            json.loads(event["Records"][0]["body"])["id"], action.id
        )
        function("undelivered")(event, Context())
        assert metered() == {"undelivered": {("duetime",): [1]}}

    def test_dispatch_counts_what_a_job_has_missed(self, function, with_jobs, deploy, metered, monkeypatch):
        deploy()
        ref = JobRef("system", sample("dispatch-job")["job"])
        store, day = job_store(with_jobs), timedelta(days=3)
        job = store.get(ref)
        later = _LaterClock(day)
        monkeypatch.setattr("duetime.lambdas.dispatch.SystemClock", lambda: later)
        metered()
        function("dispatch")(sample("dispatch-job"), Context())
        assert metered() == {"missed": {("duetime",): [1], ("duetime", job.definition.type): [1]}}


class _LaterClock(SystemClock):
    def __init__(self, by):
        self._by = by

    def now(self):
        """Noon, some days later: the job of these tests is due in the early morning."""
        return (super().now() + self._by).replace(hour=12, minute=0)


def _message_of(action):
    event = sample("work")
    told = json.loads(event["Records"][0]["body"]) | {
        "tenant": action.tenant_id,
        "id": action.id,
        "type": action.type,
    }
    event["Records"][0]["body"] = json.dumps(told)
    return event


def gathering(knows=lambda _type: True, **settings):
    return MetricsBuffer(Settings(**settings), knows, write_metrics)


class TestTheTenantsOfMetrics:
    def test_are_not_told_unless_the_settings_ask_for_it(self, metered):
        meter = gathering()
        meter.add(Metric.EXECUTED, of=Subject("ping", "acme"))
        meter.flush()
        assert set(metered()["executed"]) == {("duetime",), ("duetime", "ping")}

    def test_are_those_of_the_settings_and_one_for_all_others(self, metered):
        meter = gathering(metric_tenants="acme globex")
        for tenant in ("acme", "acme", "globex", *(f"t-{number}" for number in range(50))):
            meter.add(Metric.EXECUTED, of=Subject("ping", tenant))
        meter.flush()
        told = metered()["executed"]
        assert {place: sum(values) for place, values in told.items()} == {
            ("duetime",): 53,
            ("duetime", "ping"): 53,
            ("duetime", "acme"): 2,
            ("duetime", "globex"): 1,
            ("duetime", "other"): 50,
        }

    def test_are_all_where_the_settings_say_so(self, metered):
        meter = gathering(metric_tenants="*")
        for tenant in ("acme", "globex"):
            meter.add(Metric.EXECUTED, of=Subject("ping", tenant))
        meter.flush()
        assert {("duetime", "acme"), ("duetime", "globex")} < set(metered()["executed"])


class TestALine:
    def test_takes_100_values_at_the_most_and_none_is_lost(self, metered):
        meter = gathering()
        for number in range(250):
            meter.add(Metric.LATENESS, number, of=Subject("ping", "acme"))
            meter.add(Metric.EXECUTED, of=Subject("ping", "acme"))
        meter.flush()
        told = metered()
        assert told["lateness"]["duetime",] == list(range(250))
        assert told["executed"]["duetime",] == [250]

    def test_is_not_written_when_nothing_was_metered(self, capsys):
        meter = gathering()
        meter.flush()
        meter.add(Metric.EXECUTED)
        meter.flush()
        meter.flush()
        assert len(capsys.readouterr().out.splitlines()) == 1

    def test_has_no_dimension_that_the_environment_names(self, metered, monkeypatch):
        monkeypatch.setenv("POWERTOOLS_SERVICE_NAME", "billing")
        meter = gathering()
        meter.add(Metric.EXECUTED)
        meter.flush()
        assert metered() == {"executed": {("duetime",): [1]}}


def test_types_that_nobody_can_look_up_are_unknown_and_fail_nothing(metered):
    class Gone:
        def queue_for(self, _type):
            raise BackendUnavailable("DynamoDB", "throttled")

    meter = gathering(published(Gone()))
    meter.add(Metric.EXECUTED, of=Subject("ping", "acme"))
    meter.flush()
    assert set(metered()["executed"]) == {("duetime",), ("duetime", "unknown")}


@pytest.mark.parametrize(
    ("prefix", "deployment"), [("duetime-", "duetime"), ("shop-eu-", "shop-eu"), ("", "duetime")]
)
def test_a_deployment_is_called_as_its_prefix(prefix, deployment):
    assert deployment_of(Settings(prefix=prefix)) == deployment


@pytest.mark.parametrize("said", ["* acme", "acme  globex", " acme", "a#b"])
def test_tenants_that_cannot_be_told_apart_are_refused(said):
    with pytest.raises(SettingsError, match="metric_tenants"):
        Settings(metric_tenants=said)


def test_the_functions_get_the_tenants_from_their_environment():
    settings = Settings(metric_tenants="acme globex")
    assert Settings.from_env(settings.to_env()) == settings
