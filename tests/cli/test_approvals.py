"""A manager approves and rejects from the command line."""

from datetime import timedelta

import pytest

from duetime.cli.views import progress
from duetime.clock import SystemClock
from duetime.model.hand_over import Approval, HandedOver
from tests.cli.handed_over import hand_over_one

QUESTION = "Refund 900 € to Ann?"


@pytest.fixture
def waiting(engine):
    """The id of an action of acme that waits for an approval."""
    asks = HandedOver(timedelta(hours=1), None, Approval(QUESTION))
    return hand_over_one(engine.cloud.store, asks, type_name="ask-manager").id


def test_a_question_is_shown_and_approved(duetime, waiting):
    _, shown, _ = duetime("actions", "show", waiting)
    assert f"to approve      {QUESTION}" in shown
    _, why, _ = duetime("actions", "why", waiting)
    assert QUESTION in why
    status, printed, errors = duetime("actions", "approve", waiting, "--reason", "the parcel is back")
    assert (status, errors) == (0, "")
    assert printed.startswith(f"{waiting} is executed: approved by ")
    assert printed.endswith(": the parcel is back\n")
    _, shown, _ = duetime("actions", "show", waiting)
    assert '"approved": true' in shown


def test_a_watch_prints_what_a_handed_over_action_waits_for(duetime, waiting):
    line = progress(duetime.json("actions", "show", waiting), SystemClock().now())
    assert line.startswith(
        f"processing  waits for `duetime actions approve {waiting}` or `reject`, times out "
    )
    assert line.endswith(f": {QUESTION}")


def test_a_rejection_needs_a_reason_and_fails_the_action(duetime, waiting):
    status, printed, errors = duetime("actions", "reject", waiting)
    assert (status > 0, printed) == (True, "")
    assert "--reason" in errors
    status, printed, _ = duetime("actions", "reject", waiting, "--reason", "no receipt")
    assert (status, "is failed: rejected by" in printed) == (0, True)


def test_a_second_decision_fails_and_names_the_first(duetime, waiting):
    duetime("actions", "approve", waiting)
    status, printed, errors = duetime("actions", "reject", waiting, "--reason", "late")
    assert (status > 0, printed) == (True, "")
    assert "has ended: it was ended at" in errors
    assert "approved by" in errors
