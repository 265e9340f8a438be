"""Payloads of earlier versions, and the versions in messages and manifests."""
# ruff: noqa: ARG003 - an upcast is given more than each needs

import json
from datetime import datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ConfigDict

from duetime import App, Payload
from duetime.aws.messages import from_json, to_json
from duetime.errors import MESSAGE_LIMIT, DeclarationError, InvalidPayload, UnreadableMessage
from duetime.model.manifest import Manifest, WorkerRoute, routes_by_type
from duetime_contract.wakes import message


class Discount(Payload, version=3):
    share: float
    currency: str

    @classmethod
    def upcast(cls, written: dict[str, Any], version: int) -> dict[str, Any]:
        if version < 2:
            written["share"] = written.pop("percent") / 100
        if version < 3:
            written.setdefault("currency", "EUR")
        return written


class Note(Payload, version=2):
    text: str
    tags: tuple[str, ...] = ()


class Strict(Payload, version=2):
    model_config = ConfigDict(strict=True)

    plan: UUID
    at: datetime
    price: Decimal

    @classmethod
    def upcast(cls, written: dict[str, Any], version: int) -> dict[str, Any]:
        return {"plan": UUID(written["plan"]), "at": written["at"], "price": "9.90"}


@pytest.mark.parametrize(
    ("version", "written"),
    [
        (1, {"percent": 20}),
        (2, {"share": 0.2}),
        (2, {"share": 0.2, "currency": "EUR"}),
        (3, {"share": 0.2, "currency": "EUR"}),
        (None, {"share": 0.2, "currency": "EUR"}),
    ],
)
def test_payload_of_earlier_version_is_upcast_to_current_version(version, written):
    read = Discount.from_json(json.dumps(written), version=version)
    assert read == Discount(share=0.2, currency="EUR")


def test_current_version_is_not_upcast():
    with pytest.raises(InvalidPayload, match=r"'discount': .*percent: Extra inputs"):
        Discount.from_json('{"percent": 20}', version=3)
    with pytest.raises(InvalidPayload, match="percent: Extra inputs"):
        Discount.from_json('{"percent": 20}')


def test_upcast_is_called_once_with_stored_fields_and_version():
    calls = []

    class Seen(Payload, version=7):
        n: int

        @classmethod
        def upcast(cls, written: dict[str, Any], version: int) -> dict[str, Any]:
            calls.append((cls, dict(written), version))
            return written

    Seen.from_json('{"n": 1}', version=4)
    assert calls == [(Seen, {"n": 1}, 4)]


def test_matching_old_payload_is_read_without_upcast():
    assert Note.from_json('{"text": "x"}', version=1) == Note(text="x")


@given(st.text(), st.lists(st.text()))
def test_default_upcast_changes_nothing(text, tags):
    note = Note(text=text, tags=tuple(tags))
    assert Note.from_json(note.to_json(), version=1) == note


def test_model_validates_upcast_fields_as_json():
    read = Strict.from_json(
        '{"plan": "0b3f4a52-64a5-4a7e-9c3d-0d3a6f4a5b6c", "at": "2026-01-01T00:00:00Z"}', version=1
    )
    assert (read.plan.int > 0, read.at.year, read.price) == (True, 2026, Decimal("9.90"))


def test_error_of_old_payload_names_both_versions():
    with pytest.raises(InvalidPayload) as caught:
        Note.from_json('{"body": "secret-4711"}', version=1)
    shown = (
        "payload of 'note': written in version 1, read as version 2: text: Field required; body: Extra inputs"
    )
    assert str(caught.value).startswith(shown)
    assert "4711" not in str(caught.value)


@pytest.mark.parametrize(
    ("returns", "problem"),
    [
        (lambda written: written["nothing"], "its upcast raised KeyError: 'nothing'"),
        (lambda _written: None, "its upcast raised TypeError: it returned NoneType, not a dict"),
        (lambda _written: {"n": object()}, "its upcast raised PydanticSerializationError: .*object"),
        (lambda _written: {"n": float("nan")}, "n: .*finite number"),
        (lambda _written: {"n": 1, "m": 2}, "m: Extra inputs"),
    ],
)
def test_error_of_upcast_names_both_versions(returns, problem):
    class Broken(Payload, version=5):
        n: float

        @classmethod
        def upcast(cls, written: dict[str, Any], version: int) -> dict[str, Any]:
            return returns(written)

    with pytest.raises(InvalidPayload, match=rf"written in version 2, read as version 5: .*{problem}"):
        Broken.from_json('{"n": 1}', version=2)


def test_message_of_upcast_is_truncated():
    class Wordy(Payload, version=2):
        @classmethod
        def upcast(cls, written: dict[str, Any], version: int) -> dict[str, Any]:
            raise ValueError("x" * 10_000)

    with pytest.raises(InvalidPayload) as caught:
        Wordy.from_json("{}", version=1)
    assert len(str(caught.value)) < MESSAGE_LIMIT + 50


@pytest.mark.parametrize("written", ["", "{", "[]", "null", "7", '{"a":' + "[" * 10_000 + "]" * 10_000 + "}"])
def test_payload_that_is_no_object_is_rejected_before_upcast(written):
    with pytest.raises(InvalidPayload, match="written in version 1, read as version 3"):
        Discount.from_json(written, version=1)


def test_payload_of_later_version_is_rejected():
    with pytest.raises(InvalidPayload, match="written in version 4; this code reads up to 3"):
        Discount.from_json('{"share": 1, "currency": "EUR"}', version=4)


def test_upcast_that_is_instance_method_is_rejected():
    def upcast(self, written, version):
        return written

    with pytest.raises(DeclarationError, match=r"Named: upcast .* write @classmethod"):
        type("Named", (Payload,), {"upcast": upcast})


def test_handler_reads_old_payloads_and_has_its_version():
    app = App()

    @app.action
    def give(discount: Discount) -> None: ...

    @app.job(name="billing-nightly")
    def nightly() -> None: ...

    handler = app.handlers["discount"]
    assert handler.read('{"percent": 50}', 1) == Discount(share=0.5, currency="EUR")
    assert (handler.version, app.handlers["billing-nightly"].version) == (3, 1)
    assert app.manifest.types == {"discount": 3, "billing-nightly": 1, "duetime-probe": 1}


def test_message_has_payload_version_unless_it_is_one():
    for version in (1, 2, 70):
        sent = message(payload_version=version)
        assert from_json(to_json(sent)) == (sent, 0)
    assert "payload_version" not in to_json(message())


def test_message_without_version_has_version_one():
    shown = json.loads(to_json(message(payload_version=2)))
    del shown["payload_version"]
    assert from_json(shown)[0].payload_version == 1


@pytest.mark.parametrize("version", ["two", None, [], {}])
def test_message_with_invalid_version_is_unreadable(version):
    shown = json.loads(to_json(message())) | {"payload_version": version}
    with pytest.raises(UnreadableMessage):
        from_json(shown)


def test_newest_version_is_routed_in_any_order_of_manifests():
    old, new = Manifest("a", {"discount": 2, "note": 2}), Manifest("b", {"discount": 3})
    routes = {"discount": WorkerRoute(3, "b"), "note": WorkerRoute(2, "a")}
    assert routes_by_type([old, new]) == routes_by_type([new, old]) == routes
