"""A debounced call whose change comes too late: its action began between the call's read and its write."""

from datetime import timedelta

import pytest

from duetime import App, Payload, Run
from duetime.errors import BackendUnavailable
from duetime.model.lease import Rejected
from duetime.testing import SimulatedCloud
from tests.hooked import hook_backend
from tests.journeys.conftest import NOON

QUIET = timedelta(seconds=30)


class Reindex(Payload):
    text: str


@pytest.fixture
def began():
    return []


@pytest.fixture
def hooked(began):
    app = App()

    @app.action
    def reindex(payload: Reindex, run: Run) -> None:
        began.append(payload.text)

    cloud = SimulatedCloud(app, start=NOON)
    store = hook_backend(cloud.memory, "store", app)
    yield cloud, store
    cloud.close()


def call(cloud, text):
    return cloud.scheduler_for("acme").schedule(Reindex(text=text), debounce_key="doc:42", at=QUIET)


def test_a_call_whose_action_begins_before_its_change_is_written_schedules_another(hooked, began):
    cloud, store = hooked
    first = call(cloud, "first")

    def after_the_run_began(coalesce, *given):
        cloud.advance(2 * QUIET)
        assert began == ["first"]
        return coalesce(*given)

    store.hooks["coalesce"] = after_the_run_began
    last = call(cloud, "last")
    cloud.advance(2 * QUIET)
    assert last.id != first.id
    assert began == ["first", "last"]


def test_a_call_whose_changes_are_all_rejected_raises_and_changes_nothing(hooked, began):
    cloud, store = hooked
    call(cloud, "first")
    store.hooks["coalesce"] = lambda _coalesce, row, *_given: Rejected(row)
    with pytest.raises(BackendUnavailable, match="the debounce key 'doc:42' changed"):
        call(cloud, "last")
    cloud.advance(2 * QUIET)
    assert began == ["first"]
