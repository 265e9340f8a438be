"""The metrics that the local cloud collects in place of CloudWatch."""

import logging
from dataclasses import replace
from datetime import timedelta

from duetime.lambdas.metrics_buffer import BufferedMetric
from duetime.local import LocalCloud, LocalOptions
from duetime.local.metrics import Metrics
from duetime.model.metric import Metric
from duetime.settings import Settings
from tests.local.conftest import SHORT, Note, eventually, settled

ALL, PINGS = {"deployment": "duetime"}, {"deployment": "duetime", "type": "ping"}


def test_a_counter_is_its_sum_and_another_metric_its_last_value():
    metrics = Metrics(Settings(), bool)
    metrics.take([BufferedMetric([ALL, PINGS], {Metric.EXECUTED: [2], Metric.LATENESS: [5, 7]})])
    metrics.take([BufferedMetric([ALL], {Metric.EXECUTED: [1]})])
    assert [(row.name, row.dimensions, row.value, row.count) for row in metrics.list()] == [
        ("executed", ALL, 3, 2),
        ("executed", PINGS, 2, 1),
        ("lateness", ALL, 7, 2),
        ("lateness", PINGS, 7, 2),
    ]
    assert (metrics.value("executed"), metrics.value("executed", type="ping")) == (3, 2)
    assert metrics.value("failed") is None


def test_measurements_are_added_up_at_once_so_that_no_buffer_grows():
    metrics = Metrics(Settings(), bool)
    for milliseconds in (5, 7):
        metrics.add(Metric.LATENESS, milliseconds)
    assert not metrics._gathered
    assert metrics.value("lateness") == 7


def test_metrics_count_an_executed_action_and_do_not_use_standard_output(notes, capsys, caplog):
    all_metrics = LocalOptions(settings=replace(SHORT, metrics="all"))
    with caplog.at_level(logging.DEBUG, "duetime.metrics"), LocalCloud(notes.app, all_metrics) as cloud:
        action = cloud.scheduler().schedule(Note(text="counted"), at=timedelta(0))
        settled(cloud, action)
        eventually(lambda: cloud.metrics.value("executed", type="note") == 1, "the count of the run")
        eventually(lambda: cloud.metrics.value("scheduled", type="note") == 1, "the count by arm")
    assert "_aws" not in capsys.readouterr().out
    assert {"executed", "scheduled"} <= {
        record.message for record in caplog.records if record.name == "duetime.metrics"
    }
