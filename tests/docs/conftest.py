import pytest
from opentelemetry import trace


@pytest.fixture(autouse=True)
def own_tracing(monkeypatch):
    """An example that configures tracing does so for itself alone.

    OpenTelemetry's own provider is set once a process.
    """

    def configure(provider):
        monkeypatch.setattr(trace, "get_tracer_provider", lambda: provider)

    monkeypatch.setattr(trace, "set_tracer_provider", configure)
