"""The events that functions receive have the form of the samples in events/."""

import json
from datetime import timedelta
from pathlib import Path

from tests.emulated import EmulatedCloud, EmulatedOptions
from tests.emulated.conftest import SHORT, Note, settled

EVENTS = Path(__file__).parents[2] / "events"


def sample(name):
    (record,) = json.loads((EVENTS / f"{name}.json").read_text())["Records"]
    return record


def types(value):
    """Return the keys and types of a record."""
    return {name: types(part) for name, part in value.items()} if isinstance(value, dict) else type(value)


def test_pollers_send_the_events_that_aws_sends(notes):
    sent = {}

    def recorded(name, handler):
        def handle(event, context):
            sent.setdefault(name, event)
            return handler(event, context)

        return handle

    with EmulatedCloud(notes.app, EmulatedOptions(settings=SHORT, wrap_handler=recorded)) as cloud:
        settled(cloud, cloud.scheduler().schedule(Note(text="one"), at=timedelta(0), correlation_id="c"))
    assert types(sent["duetime-work-default"]["Records"][0]) == types(sample("work"))
    assert types(sent["duetime-arm"]["Records"][0]) == types(sample("arm"))
