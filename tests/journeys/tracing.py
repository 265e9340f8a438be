"""A caller who traces, and the spans that have ended."""

import pytest
from opentelemetry import trace as api
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from duetime.model.new_action import new_action
from tests.journeys.conftest import NOON, Charge

CARRIED = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


class Traced:
    """The spans that have ended, and a caller who traces."""

    def __init__(self):
        self.exporter = InMemorySpanExporter()
        self.provider = TracerProvider(shutdown_on_exit=False)
        self.provider.add_span_processor(SimpleSpanProcessor(self.exporter))

    def calling(self, name="checkout"):
        return self.provider.get_tracer("shop").start_as_current_span(name)

    def all(self, name=None):
        return [
            finished_span
            for finished_span in self.exporter.get_finished_spans()
            if name in {None, finished_span.name}
        ]

    def one(self, name):
        [found] = self.all(name)
        return found


@pytest.fixture
def traced(monkeypatch):
    """Tracing is configured, for this test alone: OpenTelemetry's own provider is set once a process."""
    configured = Traced()
    monkeypatch.setattr(api, "get_tracer_provider", lambda: configured.provider)
    return configured


def is_child(span, parent):
    return span.context.trace_id == parent.context.trace_id and span.parent.span_id == parent.context.span_id


def text_of(span):
    here = span.context
    return f"00-{here.trace_id:032x}-{here.span_id:016x}-{here.trace_flags:02x}"


def one_shot(*, trace=None):
    """A pending row due at noon, as some caller's Lambda has put it."""
    return new_action(
        Charge(),
        due_at=NOON,
        now=NOON,
        tenant_id="acme",
        actor="simulation",
        correlation_id=None,
        due_shards=8,
        trace=trace,
    )
