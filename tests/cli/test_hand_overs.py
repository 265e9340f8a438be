"""The holder of a token ends handed-over actions from the command line."""

from datetime import timedelta

import pytest

from duetime.model.hand_over import HandedOver
from duetime.model.hand_over_token import token_of
from tests.cli.handed_over import hand_over_one


@pytest.fixture
def run(duetime):
    """Runs a command, which must succeed; returns what it prints."""

    def run(*words):
        status, printed, errors = duetime(*words)
        assert not errors, errors
        assert status == 0
        return printed

    return run


@pytest.fixture
def token(engine):
    """The token of an action of acme that was handed over, and its id."""
    lasts = HandedOver(timedelta(hours=1), timedelta(minutes=5))
    claimed = hand_over_one(engine.cloud.store, lasts, type_name="render-film")
    return token_of(claimed), claimed.id


def test_a_heartbeat_shows_until_when_it_waits_and_its_progress_is_shown(run, token):
    written = run("actions", "heartbeat", token[0], "--progress", "0.4", "--note", "12,000 of 30,000")
    assert written.startswith("waits until ")
    shown = run("actions", "show", token[1])
    assert "40% 12,000 of 30,000" in shown
    assert "handed over" in shown
    assert "40 % is done: 12,000 of 30,000" in run("actions", "why", token[1])


def test_a_completion_stores_its_result(run, token):
    assert run("actions", "complete", token[0], "--result", '{"frames": 3}') == f"{token[1]} is executed\n"
    assert '{"frames": 3}' in run("actions", "show", token[1])


def test_a_failure_without_a_retry_is_final(run, token):
    written = run("actions", "fail", token[0], "--reason", "out of memory", "--no-retry")
    assert written == f"{token[1]} is failed\n"


def test_a_cancel_is_shown_to_the_party(run, token):
    run("actions", "cancel", token[1])
    assert "a cancel was requested" in run("actions", "heartbeat", token[0])


@pytest.mark.parametrize(
    ("written", "says"),
    [
        (["complete", "nonsense"], "no hand-over with this token"),
        (["complete", "nonsense", "--result", "{"], "is no JSON"),
        (["fail", "nonsense"], "--reason"),
        (["heartbeat", "nonsense", "--note", "half"], "pass progress too, a number from 0 to 1"),
    ],
)
def test_bad_input_is_refused(duetime, written, says):
    status, printed, errors = duetime("actions", *written)
    assert (status > 0, printed) == (True, "")
    assert says in errors
