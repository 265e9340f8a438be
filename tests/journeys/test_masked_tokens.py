"""The token of a hand-over is masked wherever a text with it ends up."""

import json
import logging
from dataclasses import asdict, replace
from datetime import timedelta

import pytest

from duetime import App, Payload, RetryPolicy, Run
from duetime._masking import MASKED, hiding
from duetime.api.audit_middleware import recorded_input
from duetime.aws.items import from_item, to_item
from duetime.lambdas.logs import LogLines
from duetime.memory.store import MemoryStore
from duetime.model.decision import Decision
from duetime.model.row_parts import Progress
from duetime.testing import SimulatedCloud
from duetime_contract.specimens import fresh


class Ask(Payload):
    way: str


class TextError(Exception):
    pass


WAYS = ("message", "note", "cause", "group", "assertion", "url")


def raise_with(way, token):
    match way:
        case "message":
            raise TextError(f"no callback for {token}")
        case "note":
            error = TextError("no callback")
            error.add_note(f"the token was {token}")
            raise error
        case "cause":
            raise TextError("no callback") from ValueError(token)
        case "group":
            raise ExceptionGroup("several", [ValueError(token), ExceptionGroup(token, [TextError(token)])])
        case "assertion":
            assert token == "another"
        case "url":
            raise TextError(f"https://example.com/done/{token}?x=1")


def texts_of(cloud, action, caplog):
    yield json.dumps(asdict(cloud.scheduler.get(action.id)), default=str)
    yield str(cloud._cloud.store.tracebacks(action.ref))
    for record in caplog.records:
        yield logging.Formatter("%(message)s %(token)s", defaults={"token": ""}).format(record)
        yield LogLines().format(record)
    for event in cloud.events():
        yield str(event)


@pytest.mark.parametrize("way", WAYS)
def test_a_token_in_a_failure_is_masked(way, caplog):
    app, tokens = App(), []

    @app.action(retry=RetryPolicy(attempts=1))
    def ask(payload: Ask, run: Run) -> None:
        tokens.append(run.token)
        run.log.info("asks %s", run.token, extra={"token": run.token, "nested": {"token": run.token}})
        try:
            raise_with(payload.way, run.token)
        except Exception:
            run.log.exception("with %s", run.token)
            raise

    cloud = SimulatedCloud(app)
    action = cloud.scheduler.schedule(Ask(way=way), at=timedelta(0))
    with caplog.at_level(logging.INFO):
        cloud.advance(minutes=1)
    texts = list(texts_of(cloud, action, caplog))
    assert [text for text in texts if tokens[0] in text] == []
    assert any(MASKED in text for text in texts)


def test_a_token_in_a_note_a_question_or_a_decision_is_masked():
    app, tokens = App(), []

    @app.action
    def ask(payload: Ask, run: Run):
        tokens.append(run.token)
        run.progress(0.5, f"sent {run.token}")
        return run.await_approval(f"Accept {run.token}?", timeout=timedelta(hours=1))

    cloud = SimulatedCloud(app)
    action = cloud.scheduler.schedule(Ask(way=""), at=timedelta(0))
    cloud.advance(minutes=1)
    row = cloud.scheduler.get(action.id)
    assert (row.hand_over.question, row.progress.note) == (f"Accept {MASKED}?", f"sent {MASKED}")
    done = cloud.scheduler.approve(action.id, reason=f"by {tokens[0]}")
    assert tokens[0] not in str(done)
    assert Decision(is_approved=True, by="ann", reason=tokens[0]).message == f"approved by ann: {MASKED}"
    event = {"queryStringParameters": {}, "headers": {}, "multiValueHeaders": {}}
    assert tokens[0] not in str(recorded_input(event, {"reason": tokens[0]}, {"reason": {}}))


def test_a_token_in_the_reason_of_a_failed_hand_over_or_a_dismissal_is_masked():
    app, tokens = App(), []

    @app.action
    def ask(payload: Ask, run: Run):
        tokens.append(run.token)
        return run.hand_over(timeout=timedelta(hours=1))

    cloud = SimulatedCloud(app)
    action = cloud.scheduler.schedule(Ask(way=""), at=timedelta(0))
    cloud.advance(minutes=1)
    cloud.scheduler.fail(tokens[0], f"{tokens[0]} was refused", retry=False)
    cloud.scheduler.dismiss(action.id, reason=f"known: {tokens[0]}")
    row = cloud.scheduler.get(action.id)
    assert (row.failure_reason, row.dismissed_reason) == (f"{MASKED} was refused", f"known: {MASKED}")


def test_a_token_in_the_result_of_a_hand_over_is_masked():
    app, tokens = App(), []

    @app.action
    def ask(payload: Ask, run: Run):
        tokens.append(run.token)
        return run.hand_over(timeout=timedelta(hours=1))

    cloud = SimulatedCloud(app)
    first, second = (cloud.scheduler.schedule(Ask(way=way), at=timedelta(0)) for way in ("a", "b"))
    cloud.advance(minutes=1)
    cloud.scheduler.complete(tokens[0], result={"next": [f"https://shop.example/{tokens[1]}"], "n": 1})
    shown = cloud.scheduler.get(first.id).result or cloud.scheduler.get(second.id).result
    assert tokens[1] not in str(shown)
    assert MASKED in str(shown)


def test_a_reported_note_is_read_as_it_is_stored_also_where_its_words_are_hidden():
    row = replace(fresh(MemoryStore()), progress=Progress(0.5, "sent to 4111111111111111"))
    with hiding(lambda: ["4111111111111111"], ()):
        assert from_item(to_item(row)) == row
