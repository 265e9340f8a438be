"""No failure shows a secret: not in its row, its event, its notification, its log or a run line."""

import io
import json
import logging
from datetime import timedelta

import pytest

from duetime import App, Fatal, Payload, RetryPolicy, Status
from duetime._masking import MASKED
from duetime.lambdas.logs import LogLines
from duetime.local.run_lines import RunLines
from duetime.settings import Settings
from duetime.telemetry.tracebacks import traceback_of
from duetime.testing import SimulatedCloud

EMAIL, CARD, TOKEN = 'ada"löwe"@acme.example', 4111111111111111, "ghp_" + "a1" * 18
SHOWN = "\x1b[31mred \u202eback"


class Pay(Payload, sensitive=("email", "cards.number")):
    order: str
    email: str = EMAIL
    cards: list[dict] = [{"number": CARD}]  # noqa: RUF012 - pydantic copies it


class PayLater(Pay, sensitive=("email", "cards.number")):
    pass


class Later(Payload, sensitive=("renamed",)):
    """A type whose sensitive field its old rows do not have."""

    renamed: str


class Older(Payload, name="later"):
    former: str


def failing(payload):
    try:
        {}[payload.model_dump_json()]
    except KeyError as error:
        reason = f"order {payload.order}: {payload!r} of CUST-12345, {TOKEN}, password=hunter2 {SHOWN}"
        raise Fatal(f"{reason} {'.' * 300} {payload.email}") from error


def app():
    made = App()

    @made.action(retry=RetryPolicy(attempts=1))
    def pay(payload: Pay) -> None:
        failing(payload)

    @made.action(retry=RetryPolicy(attempts=1))
    async def pay_later(payload: PayLater) -> None:
        failing(payload)

    @made.action(retry=RetryPolicy(attempts=1))
    def later(payload: Later) -> None: ...

    return made


def assert_masked(text):
    assert MASKED in text
    for secret in ("löwe", "l\\u00f6we", str(CARD), TOKEN, "hunter2", "CUST-12345"):
        assert secret not in text


@pytest.fixture
def lines():
    """The lines that Lambda and the local cloud write, of the same records."""
    log, handlers = logging.getLogger("duetime"), []
    for formatter in (LogLines(), RunLines(in_colour=False), logging.Formatter()):
        handler = logging.StreamHandler(io.StringIO())
        handler.setFormatter(formatter)
        handlers.append(handler)
        log.addHandler(handler)
    before = log.level
    log.setLevel(logging.INFO)
    yield lambda: [handler.stream.getvalue() for handler in handlers]
    log.setLevel(before)
    for handler in handlers:
        log.removeHandler(handler)


@pytest.mark.parametrize("payload", [Pay(order="o-17"), PayLater(order="o-17")], ids=["sync", "async"])
def test_a_failure_shows_no_secret_wherever_it_is_stored_or_logged(payload, lines):
    cloud = SimulatedCloud(app(), settings=Settings(secret_patterns={"customer": "CUST-[0-9]{5}"}))
    action = cloud.scheduler.schedule(payload, at=timedelta(0))
    cloud.advance(seconds=1)
    failed = cloud.scheduler.get(action.id)
    assert failed.status is Status.FAILED
    assert "order o-17" in failed.failure_reason
    assert_masked(failed.failure_reason)
    for written in lines():
        assert "handler raised" in written or "late, ran" in written
        assert_masked(written)
        assert "Fatal" in written
    for_lambda, for_terminal, _ = lines()
    assert not set(for_lambda + for_terminal) & set("\x1b\u202e")
    assert [json.loads(line) for line in for_lambda.splitlines()]


def test_a_payload_that_its_model_rejects_hides_every_value_if_its_sensitive_field_is_absent():
    cloud = SimulatedCloud(app())
    action = cloud.scheduler.schedule(Older(former="only-Ada-knows"), at=timedelta(0))
    cloud.advance(seconds=1)
    reason = cloud.scheduler.get(action.id).failure_reason
    assert "renamed" in reason
    assert "only-Ada-knows" not in reason


def test_the_source_lines_of_a_traceback_are_masked():
    with pytest.raises(ValueError, match="abc") as raised:
        int("token=abc12345 \x1b")
    text = traceback_of(raised.value)
    assert "abc12345" not in text
    assert "\x1b" not in text
    assert "test_masked_failures.py" in text
