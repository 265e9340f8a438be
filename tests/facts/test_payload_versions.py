"""Payloads that an earlier version of their type wrote, and what messages and manifests say of versions."""
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
from duetime.aws.messages import UnreadableMessage, from_json, to_json
from duetime.errors import MESSAGE_LIMIT, DeclarationError, InvalidPayload
from duetime.model.manifest import Manifest, WorkerRoute, routes_by_type
from duetime.testing.contract.wakes import message


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
def test_what_any_earlier_version_wrote_is_brought_up_to_the_present_one(version, written):
    read = Discount.from_json(json.dumps(written), version=version)
    assert read == Discount(share=0.2, currency="EUR")


def test_the_present_version_is_not_brought_up():
    with pytest.raises(InvalidPayload, match=r"'discount': .*percent: Extra inputs"):
        Discount.from_json('{"percent": 20}', version=3)
    with pytest.raises(InvalidPayload, match="percent: Extra inputs"):
        Discount.from_json('{"percent": 20}')


def test_upcast_is_called_once_with_all_that_was_written_and_its_version():
    calls = []

    class Seen(Payload, version=7):
        n: int

        @classmethod
        def upcast(cls, written: dict[str, Any], version: int) -> dict[str, Any]:
            calls.append((cls, dict(written), version))
            return written

    Seen.from_json('{"n": 1}', version=4)
    assert calls == [(Seen, {"n": 1}, 4)]


def test_without_an_upcast_what_fits_is_read_as_it_is():
    assert Note.from_json('{"text": "x"}', version=1) == Note(text="x")


@given(st.text(), st.lists(st.text()))
def test_bringing_up_changes_nothing_by_itself(text, tags):
    note = Note(text=text, tags=tuple(tags))
    assert Note.from_json(note.to_json(), version=1) == note


def test_a_model_reads_what_was_brought_up_as_it_reads_json():
    read = Strict.from_json(
        '{"plan": "0b3f4a52-64a5-4a7e-9c3d-0d3a6f4a5b6c", "at": "2026-01-01T00:00:00Z"}', version=1
    )
    assert (read.plan.int > 0, read.at.year, read.price) == (True, 2026, Decimal("9.90"))


def test_a_refusal_of_an_old_payload_names_both_versions():
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
def test_an_upcast_that_goes_wrong_is_told_with_both_versions(returns, problem):
    class Broken(Payload, version=5):
        n: float

        @classmethod
        def upcast(cls, written: dict[str, Any], version: int) -> dict[str, Any]:
            return returns(written)

    with pytest.raises(InvalidPayload, match=rf"written in version 2, read as version 5: .*{problem}"):
        Broken.from_json('{"n": 1}', version=2)


def test_the_message_of_an_upcast_is_cut():
    class Wordy(Payload, version=2):
        @classmethod
        def upcast(cls, written: dict[str, Any], version: int) -> dict[str, Any]:
            raise ValueError("x" * 10_000)

    with pytest.raises(InvalidPayload) as caught:
        Wordy.from_json("{}", version=1)
    assert len(str(caught.value)) < MESSAGE_LIMIT + 50


@pytest.mark.parametrize("written", ["", "{", "[]", "null", "7", '{"a":' + "[" * 10_000 + "]" * 10_000 + "}"])
def test_what_is_no_object_never_reaches_an_upcast(written):
    with pytest.raises(InvalidPayload, match="written in version 1, read as version 3"):
        Discount.from_json(written, version=1)


def test_what_a_later_version_wrote_is_refused():
    with pytest.raises(InvalidPayload, match="written in version 4; this code reads up to 3"):
        Discount.from_json('{"share": 1, "currency": "EUR"}', version=4)


def test_an_upcast_that_needs_a_payload_is_refused():
    def upcast(self, written, version):
        return written

    with pytest.raises(DeclarationError, match=r"Named: upcast .* write @classmethod"):
        type("Named", (Payload,), {"upcast": upcast})


def test_a_handler_reads_old_payloads_and_says_its_version():
    app = App()

    @app.action
    def give(discount: Discount) -> None: ...

    @app.job(name="billing-nightly")
    def nightly() -> None: ...

    handler = app.handlers["discount"]
    assert handler.read('{"percent": 50}', 1) == Discount(share=0.5, currency="EUR")
    assert (handler.version, app.handlers["billing-nightly"].version) == (3, 1)
    assert app.manifest.types == {"discount": 3, "billing-nightly": 1}


def test_a_message_says_its_payloads_version_where_it_is_not_the_first():
    for version in (1, 2, 70):
        sent = message(payload_version=version)
        assert from_json(to_json(sent)) == (sent, 0)
    assert "payload_version" not in to_json(message())


def test_a_message_that_says_no_version_means_the_first():
    shown = json.loads(to_json(message(payload_version=2)))
    del shown["payload_version"]
    assert from_json(shown)[0].payload_version == 1


@pytest.mark.parametrize("version", ["two", None, [], {}])
def test_a_message_with_an_unreadable_version_is_unreadable(version):
    shown = json.loads(to_json(message())) | {"payload_version": version}
    with pytest.raises(UnreadableMessage):
        from_json(shown)


def test_the_newest_version_leads_whatever_the_order_of_the_manifests():
    old, new = Manifest("a", {"discount": 2, "note": 2}), Manifest("b", {"discount": 3})
    routes = {"discount": WorkerRoute(3, "b"), "note": WorkerRoute(2, "a")}
    assert routes_by_type([old, new]) == routes_by_type([new, old]) == routes
