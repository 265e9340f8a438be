"""A Lambda process writes one JSON object a line, for any text."""

import json
import logging
from datetime import timedelta
from itertools import chain

import pytest
from aws_lambda_powertools.logging.formatter import LambdaPowertoolsFormatter

from duetime import App, Payload, RetryPolicy, Run, every
from duetime.errors import MESSAGE_LIMIT
from duetime.lambdas.logs import LogLines, write_json_logs
from duetime.model.change import Change
from duetime.telemetry.transition_log import TransitionLog
from duetime.testing import SimulatedCloud


@pytest.fixture
def written(capsys):
    """Return a function that calls another and returns the lines written meanwhile, as objects."""

    def written_by(log):
        root = logging.getLogger("duetime")
        handlers, propagate, level = root.handlers, root.propagate, root.level
        write_json_logs()
        try:
            log()
        finally:
            root.handlers, root.propagate = handlers, propagate
            root.setLevel(level)
        return [json.loads(line) for line in capsys.readouterr().out.splitlines()]

    return written_by


WORK = logging.getLogger("duetime.worker.run_handler")


def test_a_line_has_the_timestamp_the_level_the_message_and_the_action(written):
    [line] = written(lambda: WORK.info("ran in %s ms", 5, extra={"late_ms": 3.5, "action": "a-1"}))
    assert list(line)[:4] == ["timestamp", "level", "message", "action"]
    assert (line["level"], line["message"], line["action"]) == ("INFO", "ran in 5 ms", "a-1")
    assert line["late_ms"] == 3.5


class Opaque:
    def __str__(self):
        return "opaque"


RECORDS = {
    "arguments": {"msg": "ran in %s ms", "args": (5,), "late_ms": 3.5, "action": "a-1"},
    "a value that JSON has not": {"msg": "sent", "queue": Opaque(), "nothing": None},
    "a message in JSON": {"msg": '{"a": [1]}'},
    "a number as message": {"msg": 17},
    "a dict as message": {"msg": {"a": 1}, "args": ()},
    "names of logging": {"msg": "x", "asctime": "y", "timestamp": "z", "location": "w", "level": "v"},
    "own exception": {"msg": "x", "exception": "a text", "exception_name": "Name"},
}


@pytest.mark.parametrize("trace", ["", "Root=1-5759e988-bd862e3fe1be46a994272793;Sampled=1"])
@pytest.mark.parametrize("name", sorted(RECORDS))
def test_a_line_is_that_of_powertools_logger(monkeypatch, name, trace):
    monkeypatch.setenv("_X_AMZN_TRACE_ID", trace)
    attributes = {"levelname": "WARNING", "funcName": "work", "lineno": 7, "name": "duetime.worker"}
    record = logging.makeLogRecord(attributes | RECORDS[name])
    order = ["timestamp", "level", "message", "action"]
    theirs = LambdaPowertoolsFormatter(log_record_order=order, serialize_stacktrace=False)
    assert LogLines().format(record) == theirs.format(record)


def test_a_trace_that_x_ray_drops_is_in_no_line(monkeypatch):
    monkeypatch.setenv("_X_AMZN_TRACE_ID", "Root=1-5759e988-bd862e3fe1be46a994272793;Sampled=0;Lineage=1:a:0")
    assert "trace" not in LogLines().format(logging.makeLogRecord({"msg": "ran"}))


def test_an_exception_is_one_line_too(written):
    def fails():
        try:
            {}["ledger"]
        except KeyError:
            WORK.exception("it failed")

    [line] = written(fails)
    assert line["exception_name"] == "KeyError"
    assert line["exception"].startswith("Traceback")
    assert line["exception"].endswith("KeyError: 'ledger'")


@pytest.mark.parametrize("text", ["two\nlines", "Bücher 🚀", "\x00"], ids=["lines", "letters", "null"])
def test_no_text_breaks_the_line(written, text):
    [line] = written(lambda: WORK.info("%s", text))
    assert line["message"] == text


class Charge(Payload):
    card: str = ""
    fails: int = 0
    text: str = ""


def charging():
    """A cloud whose handler fails as often as its payload sets."""
    app = App()

    @app.action(retry=RetryPolicy(attempts=2, backoff=[60], jitter=0))
    def charge(payload: Charge, run: Run) -> None:
        if run.attempt <= payload.fails:
            raise ConnectionError(payload.text or "the bank did not answer")

    @app.job(every(hours=1), name="count-cash")
    def count_cash(run: Run) -> None:
        pass

    return SimulatedCloud(app)


def of(action, lines):
    """Return the transitions of an action, in order; the errors of its handler are none."""
    about = (line for line in lines if "exception" not in line)
    return [line["message"] for line in about if action.id in {line.get("action"), *shared(line)}]


def shared(line):
    """Return the actions that share a line."""
    return chain.from_iterable(ids for types in line.get("actions", {}).values() for ids in types.values())


FIELDS = {"action", "tenant", "type", "attempt"}
"""The fields of every transition's line; `job` and `reason` are optional."""


class TestEachTransitionHasOneLine:
    def test_of_an_action_that_fails_and_is_redriven(self, written):
        cloud = charging()
        action = cloud.scheduler.schedule(Charge(fails=2), at=timedelta(minutes=1))

        def passes():
            cloud.advance(minutes=5)
            cloud.scheduler.redrive(action.id)
            cloud.advance(minutes=5)

        lines = written(passes)
        assert of(action, lines) == ["scheduled", "retried", "failed", "redriven", "executed"]
        transitions = [line for line in lines if line.get("action") == action.id and "exception" not in line]
        assert all(set(line) >= FIELDS and "job" not in line for line in transitions)
        ended = [line for line in transitions if line["message"] in {"retried", "failed"}]
        assert [line["reason"] for line in ended] == ["ConnectionError: the bank did not answer"] * 2

    def test_of_an_action_that_is_rescheduled_and_cancelled(self, written):
        cloud = charging()
        action = cloud.scheduler.schedule(Charge(), at=timedelta(hours=1))

        def passes():
            cloud.advance(minutes=1)
            cloud.scheduler.reschedule(action.id, timedelta(hours=2))
            cloud.advance(minutes=1)
            cloud.scheduler.cancel(action.id)
            cloud.advance(minutes=1)

        assert of(action, written(passes)) == ["scheduled", "rescheduled", "cancelled"]

    def test_of_a_skipped_occurrence_with_its_job_and_the_reason(self, written):
        cloud = charging()
        cloud.advance(minutes=30)
        cloud.jobs.skip_next("count-cash")
        [skipped] = [
            line for line in written(lambda: cloud.advance(minutes=1)) if line["message"] == "skipped"
        ]
        assert skipped["job"] == skipped["type"] == "count-cash"
        assert skipped["reason"].startswith("requested")

    def test_but_those_that_are_scheduled_in_one_batch_share_it(self, written):
        rows = [charging().scheduler.schedule(Charge(), at=timedelta(hours=1)) for _ in range(3)]
        [line] = written(lambda: TransitionLog()(Change(None, row) for row in rows))
        tenant, type_name = rows[0].tenant_id, rows[0].type
        assert line["actions"] == {tenant: {type_name: [row.id for row in rows]}}
        assert line["message"] == "scheduled"


class TestNoLineContains:
    SECRET = "4000-0000-0000-0002"

    def test_a_value_of_a_payload(self, written):
        cloud = charging()

        def passes():
            action = cloud.scheduler.schedule(Charge(card=self.SECRET, fails=9), at=timedelta(minutes=1))
            cloud.advance(minutes=5)
            cloud.scheduler.redrive(action.id)
            cloud.scheduler.cancel(action.id)
            cloud.advance(hours=13)

        lines = written(passes)
        assert {"scheduled", "retried", "failed"} <= {line["message"] for line in lines}
        assert self.SECRET not in json.dumps(lines)

    def test_more_of_an_exceptions_message_than_500_characters(self, written):
        cloud = charging()
        text = "an answer of the bank's: ".ljust(MESSAGE_LIMIT, ".") + self.SECRET
        cloud.scheduler.schedule(Charge(fails=2, text=text), at=timedelta(minutes=1))
        lines = written(lambda: cloud.advance(minutes=5))
        [raised, _] = [line for line in lines if "exception" in line]
        assert raised["exception"].startswith("Traceback")
        assert "in charge\n" in raised["exception"]
        assert "ConnectionError: an answer of the bank's" in raised["exception"]
        assert self.SECRET not in json.dumps(lines)

    def test_more_of_the_causes_of_an_exception_or_of_their_notes(self, written):
        long = "x" * MESSAGE_LIMIT + self.SECRET

        def noted(error):
            error.add_note(long)
            return error

        def fails():
            try:
                raise noted(KeyError(long)) from noted(ValueError(long))
            except KeyError:
                WORK.exception("it failed")

        [line] = written(fails)
        assert line["exception"].count("Traceback") == 2
        assert "direct cause" in line["exception"]
        assert line["exception"].index("ValueError") < line["exception"].index("KeyError")
        assert self.SECRET not in json.dumps(line)
