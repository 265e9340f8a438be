"""What the pumps hand to the functions has the form of the samples in events/."""

import json
from datetime import timedelta
from pathlib import Path

from duetime.local.functions import LocalFunctions
from tests.local.conftest import Note, settled

EVENTS = Path(__file__).parents[2] / "events"


def sample(name):
    (record,) = json.loads((EVENTS / f"{name}.json").read_text())["Records"]
    return record


def types(value):
    """The keys and types of a record, down to the texts and numbers."""
    return {name: types(part) for name, part in value.items()} if isinstance(value, dict) else type(value)


def test_pollers_send_the_events_that_aws_sends(cloud, monkeypatch):
    sent = {}
    invoke = LocalFunctions.invoke

    def listening(self, arn, event):
        sent.setdefault(arn.rpartition(":")[2], event)
        return invoke(self, arn, event)

    monkeypatch.setattr(LocalFunctions, "invoke", listening)
    settled(cloud, cloud.scheduler().schedule(Note(text="one"), at=timedelta(0), correlation_id="c"))
    assert types(sent["duetime-work-default"]["Records"][0]) == types(sample("work"))
    assert types(sent["duetime-arm"]["Records"][0]) == types(sample("arm"))
