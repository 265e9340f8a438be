"""The functions write lines that keep the rules of CloudWatch's Embedded Metric Format."""

import json
import logging
from datetime import timedelta

import pytest

from duetime import Scheduler
from duetime.aws import clients
from duetime.aws.backends import AwsBackends
from duetime.clock import SystemClock
from duetime.errors import BackendUnavailable, SettingsError
from duetime.lambdas.dispatch import make_dispatch
from duetime.lambdas.metrics_buffer import MetricsBuffer, deployment_of, published, write_metrics
from duetime.model.job import JobRef
from duetime.model.metric import Metric
from duetime.ports.meter import Subject
from duetime.settings import Settings
from duetime.telemetry import run_log
from duetime.testing import TurnedClock
from examples.billing import SendReceipt
from tests.functions.aws_faults import failing
from tests.functions.conftest import Context, sample

UNITS = {"Seconds", "Milliseconds", "Count"}
MOST = 100


def values_of(line, metric):
    """Return the values of a metric in a line: a number is a list of one."""
    value = line[metric["Name"]]
    return value if isinstance(value, list) else [value]


def check_format(line):
    """Check CloudWatch's rules: it drops a line that breaks one, without an error."""
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
    """Return a function that reads the metrics since its last call: name → dimensions → values."""

    def read():
        lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
        found = {}
        for line in (line for line in lines if "_aws" in line):
            check_format(line)
            [directive] = line["_aws"]["CloudWatchMetrics"]
            for metric in directive["Metrics"]:
                for names in directive["Dimensions"]:
                    dimensions = tuple(line[name] for name in names)
                    values = found.setdefault(metric["Name"], {}).setdefault(dimensions, [])
                    values += values_of(line, metric)
        return found

    return read


@pytest.fixture(autouse=True)
def all_metrics(monkeypatch):
    monkeypatch.setenv("DUETIME_METRICS", "all")


@pytest.fixture
def with_types(monkeypatch):
    monkeypatch.setenv("DUETIME_METRIC_TYPES", "*")


class TestTheFunction:
    def test_arm_counts_scheduled_actions_by_deployment_alone(self, function, metered):
        function("arm")(sample("arm"), Context())
        assert metered() == {"scheduled": {("duetime",): [1]}}

    @pytest.mark.usefixtures("with_types")
    def test_arm_counts_scheduled_actions_by_deployment_and_by_type(self, function, metered):
        function("arm")(sample("arm"), Context())
        assert metered() == {"scheduled": {("duetime",): [1], ("duetime", "unknown"): [1]}}

    @pytest.mark.usefixtures("with_types")
    def test_arm_names_published_types(self, function, deploy, metered):
        deploy()
        metered()
        event = sample("arm")
        event["Records"] *= 3
        function("arm")(event, Context())
        [alone, typed] = metered()["scheduled"].items()
        assert (alone, typed[1]) == ((("duetime",), [3]), [3])

    def test_arm_counts_nothing_of_a_batch_that_lambda_repeats(self, function, metered):
        with failing(clients.sqs(), "SendMessageBatch"):
            function("arm")(sample("arm"), Context())
        assert metered() == {}

    @pytest.mark.usefixtures("with_types")
    def test_work_meters_the_run_and_its_lateness(self, function, metered):
        scheduler = Scheduler.from_env(tenant_id="acme", actor="billing-service")
        action = scheduler.schedule(SendReceipt(order="o-1"), at=timedelta(seconds=-5))
        function("work")(_message_of(action), Context())
        metrics = metered()
        assert set(metrics) == {"executed", "lateness", "run_time"}
        for values in metrics.values():
            assert set(values) == {("duetime",), ("duetime", "send-receipt")}
        assert metrics["executed"]["duetime",] == [1]
        assert metrics["lateness"]["duetime", "send-receipt"][0] >= 5_000

    @pytest.mark.parametrize(("setting", "value"), [("disabled", True), ("level", logging.WARNING)])
    def test_work_meters_a_run_whose_line_the_app_does_not_log(
        self, function, metered, monkeypatch, setting, value
    ):
        scheduler = Scheduler.from_env(tenant_id="acme", actor="billing-service")
        action = scheduler.schedule(SendReceipt(order="o-1"), at=timedelta(0))
        work = function("work")
        monkeypatch.setattr(run_log.log, setting, value)
        run_log.log.manager._clear_cache()
        work(_message_of(action), Context())
        run_log.log.manager._clear_cache()
        assert set(metered()) == {"executed", "lateness", "run_time"}

    def test_work_writes_the_metrics_of_a_call_whose_other_message_is_broken(self, function, metered):
        scheduler = Scheduler.from_env(tenant_id="acme", actor="billing-service")
        action = scheduler.schedule(SendReceipt(order="o-1"), at=timedelta(0))
        event = _message_of(action)
        event["Records"].append({"messageId": "2"})
        answer = function("work")(event, Context())
        assert answer == {"batchItemFailures": [{"itemIdentifier": "2"}]}
        assert metered()["executed"]["duetime",] == [1]

    @pytest.mark.parametrize(
        ("name", "sent"), [("sweep", {}), ("catch_up", {"catch_up_sent": {("duetime",): [1]}})]
    )
    def test_the_passes_meter_the_age_of_the_oldest_overdue_row(self, function, metered, name, sent):
        scheduler = Scheduler.from_env(tenant_id="acme", actor="billing-service")
        scheduler.schedule(SendReceipt(order="o-1"), at=timedelta(minutes=-7))
        function(name)(sample(name), Context())
        metrics = metered()
        [[age]] = metrics.pop("oldest_due_age").values()
        assert 420 <= age < 480
        assert metrics == sent

    def test_the_passes_write_no_metric_if_nothing_is_overdue(self, function, metered):
        function("sweep")(sample("sweep"), Context())
        assert metered() == {}

    def test_the_undelivered_function_counts_stored_inputs(self, function, metered):
        scheduler = Scheduler.from_env(tenant_id="acme", actor="billing-service")
        action = scheduler.schedule(SendReceipt(order="o-1"), at=timedelta(seconds=-5))
        event = sample("undelivered")
        event["Records"][0]["body"] = event["Records"][0]["body"].replace(
            json.loads(event["Records"][0]["body"])["id"], action.id
        )
        function("undelivered")(event, Context())
        assert metered() == {"undelivered": {("duetime",): [1]}}

    def test_dispatch_counts_missed_occurrences(self, with_jobs, deploy, metered):
        deploy()
        ref = JobRef("system", sample("dispatch-job")["job"])
        assert AwsBackends(with_jobs).jobs.get(ref) is not None
        noon = (SystemClock().now() + timedelta(days=3)).replace(hour=12, minute=0)
        clock, meter = TurnedClock(noon), metrics_buffer()
        metered()
        make_dispatch(AwsBackends(with_jobs, clock), meter)(sample("dispatch-job"))
        meter.flush()
        assert metered() == {"missed": {("duetime",): [1]}}


def _message_of(action):
    event = sample("work")
    message = json.loads(event["Records"][0]["body"]) | {
        "tenant": action.tenant_id,
        "id": action.id,
        "type": action.type,
    }
    event["Records"][0]["body"] = json.dumps(message)
    return event


def metrics_buffer(is_published=lambda _type: True, **settings):
    return MetricsBuffer(Settings(**{"metrics": "all", **settings}), is_published, write_metrics)


class TestTheTenantsOfMetrics:
    def test_are_no_dimension_by_default(self, metered):
        meter = metrics_buffer()
        meter.add(Metric.EXECUTED, of=Subject("ping", "acme"))
        meter.flush()
        assert set(metered()["executed"]) == {("duetime",)}

    def test_are_those_of_the_settings_and_other(self, metered):
        meter = metrics_buffer(metric_tenants="acme globex")
        for tenant in ("acme", "acme", "globex", *(f"t-{number}" for number in range(50))):
            meter.add(Metric.EXECUTED, of=Subject("ping", tenant))
        meter.flush()
        executed = metered()["executed"]
        assert {dimensions: sum(values) for dimensions, values in executed.items()} == {
            ("duetime",): 53,
            ("duetime", "acme"): 2,
            ("duetime", "globex"): 1,
            ("duetime", "other"): 50,
        }

    def test_are_all_tenants_if_the_setting_is_a_star(self, metered):
        meter = metrics_buffer(metric_tenants="*")
        for tenant in ("acme", "globex"):
            meter.add(Metric.EXECUTED, of=Subject("ping", tenant))
        meter.flush()
        assert {("duetime", "acme"), ("duetime", "globex")} < set(metered()["executed"])


class TestTheTypesOfMetrics:
    def test_are_no_dimension_by_default(self, metered):
        meter = metrics_buffer()
        meter.add(Metric.EXECUTED, of=Subject("ping", "acme"))
        meter.flush()
        assert set(metered()["executed"]) == {("duetime",)}

    def test_are_those_of_the_settings_and_other(self, metered):
        meter = metrics_buffer(lambda _type: False, metric_types="ping pong")
        for name in ("ping", "ping", "pong", *(f"type-{number}" for number in range(50))):
            meter.add(Metric.EXECUTED, of=Subject(name, "acme"))
        meter.flush()
        executed = metered()["executed"]
        assert {dimensions: sum(values) for dimensions, values in executed.items()} == {
            ("duetime",): 53,
            ("duetime", "ping"): 2,
            ("duetime", "pong"): 1,
            ("duetime", "other"): 50,
        }

    def test_are_all_published_ones_if_the_setting_is_a_star(self, metered):
        meter = metrics_buffer(["ping"].__contains__, metric_types="*")
        for name in ("ping", "forged"):
            meter.add(Metric.EXECUTED, of=Subject(name, "acme"))
        meter.flush()
        assert set(metered()["executed"]) == {("duetime",), ("duetime", "ping"), ("duetime", "unknown")}


def test_few_metrics_leave_out_those_of_each_action_but_lateness(metered):
    meter = metrics_buffer(metrics="few")
    for metric in Metric:
        meter.add(metric, of=Subject("ping", "acme"))
    meter.flush()
    assert set(metered()) == set(Metric) - {"scheduled", "executed", "run_time"}


class TestALine:
    def test_has_at_most_100_values_and_no_value_is_lost(self, metered):
        meter = metrics_buffer()
        for number in range(250):
            meter.add(Metric.LATENESS, number, of=Subject("ping", "acme"))
            meter.add(Metric.EXECUTED, of=Subject("ping", "acme"))
        meter.flush()
        metrics = metered()
        assert metrics["lateness"]["duetime",] == list(range(250))
        assert metrics["executed"]["duetime",] == [250]

    def test_is_not_written_without_metrics(self, capsys):
        meter = metrics_buffer()
        meter.flush()
        meter.add(Metric.EXECUTED)
        meter.flush()
        meter.flush()
        assert len(capsys.readouterr().out.splitlines()) == 1

    def test_has_no_dimension_of_the_environment(self, metered, monkeypatch):
        monkeypatch.setenv("POWERTOOLS_SERVICE_NAME", "billing")
        meter = metrics_buffer()
        meter.add(Metric.EXECUTED)
        meter.flush()
        assert metered() == {"executed": {("duetime",): [1]}}


def test_if_the_routes_cannot_be_read_types_are_unknown(metered):
    class Unavailable:
        def queue_for(self, _type):
            raise BackendUnavailable("DynamoDB", "throttled")

    meter = metrics_buffer(published(Unavailable()), metric_types="*")
    meter.add(Metric.EXECUTED, of=Subject("ping", "acme"))
    meter.flush()
    assert set(metered()["executed"]) == {("duetime",), ("duetime", "unknown")}


@pytest.mark.parametrize(
    ("prefix", "deployment"), [("duetime-", "duetime"), ("shop-eu-", "shop-eu"), ("", "duetime")]
)
def test_a_deployment_is_named_by_its_prefix(prefix, deployment):
    assert deployment_of(Settings(prefix=prefix)) == deployment


@pytest.mark.parametrize("setting", ["metric_tenants", "metric_types"])
@pytest.mark.parametrize("names", ["* acme", "acme  globex", " acme", "a#b"])
def test_an_ambiguous_list_of_names_is_rejected(setting, names):
    with pytest.raises(SettingsError, match=setting):
        Settings(**{setting: names})


def test_the_environment_sets_the_types_and_tenants():
    settings = Settings(metric_types="ping pong", metric_tenants="acme globex")
    assert Settings.from_env(settings.to_env()) == settings
