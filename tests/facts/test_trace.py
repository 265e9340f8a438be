"""The trace context in a row, and the cost of disabled tracing."""

import json
import subprocess
import sys
from datetime import UTC, datetime

import pytest

from duetime.aws.items import from_item, to_item
from duetime.errors import UnreadableRow
from duetime.ids import TenantId
from duetime.model.new_action import new_action
from duetime.telemetry import spans
from tests.journeys.conftest import Charge

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
CARRIED = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

_SCHEDULES = """
from datetime import timedelta
from duetime import App, Payload

app = App()

class Ping(Payload):
    number: int = 1

@app.action
def answer(payload: Ping) -> None: ...

app.job(name="press-print")(lambda: None)
with app.embedded() as scheduler:
    action = scheduler.schedule(Ping(), at=timedelta(0))
    scheduler.cancel(scheduler.schedule(Ping(), at=timedelta(hours=1)).id)
    assert action.trace is None
import duetime.aws, duetime.lambdas.work, duetime.lambdas.passes, duetime.lambdas.api, json, sys
print(json.dumps([name for name in sys.modules if "opentelemetry" in name]))
"""


def an_action(carried=None):
    return new_action(
        Charge(),
        due_at=NOON,
        now=NOON,
        tenant_id=TenantId("acme"),
        actor="billing-service",
        correlation_id=None,
        due_shards=16,
        trace=carried,
    )


def test_opentelemetry_is_not_loaded_without_tracing():
    run = subprocess.run([sys.executable, "-c", _SCHEDULES], capture_output=True, text=True, check=True)  # noqa: S603 - our own code
    assert json.loads(run.stdout.splitlines()[-1]) == []


def test_no_span_or_attributes_without_tracing(monkeypatch):
    monkeypatch.setitem(sys.modules, "opentelemetry.trace", None)
    begun = [spans.span(spans.SCHEDULE, lambda: pytest.fail("the parent was read")) for _ in range(2)]
    assert begun[0] is begun[1]
    with begun[0] as span:
        span.about(an_action(CARRIED))
        span.raised(ValueError())
        span.failed("no paper")
        span.ended(None)
    assert spans.carried() is None


def test_error_passes_through_block_without_span(monkeypatch):
    monkeypatch.setitem(sys.modules, "opentelemetry.trace", None)
    with pytest.raises(ConnectionError, match="no paper"), spans.span(spans.EXECUTE):
        raise ConnectionError("no paper")


def test_row_without_trace_has_no_trace_attribute():
    assert "trace" not in to_item(an_action())
    assert from_item(to_item(an_action())).trace is None


def test_trace_adds_its_name_and_55_bytes_to_row():
    assert to_item(an_action(CARRIED))["trace"] == {"S": CARRIED}
    assert len(CARRIED) == 55


def test_a_trace_of_another_type_makes_the_row_unreadable():
    with pytest.raises(UnreadableRow, match="S"):
        from_item({**to_item(an_action(CARRIED)), "trace": {"N": "1"}})
