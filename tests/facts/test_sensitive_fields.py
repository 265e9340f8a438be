"""Sensitive fields of payloads: valid paths and redacted payloads."""

from __future__ import annotations

import json
from typing import Annotated, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict, Field, RootModel

from duetime import App, Payload
from duetime.errors import DeclarationError
from duetime.model.manifest import Manifest, routes_by_type
from duetime.model.redaction import EVERYTHING, REDACTED, WHOLE, redacted


class Card(BaseModel):
    number: str
    holder: dict[str, str] = {}


class Iban(BaseModel):
    iban: str


class Open(BaseModel):
    model_config = ConfigDict(extra="allow")


class Cards(RootModel[list[Card]]):
    pass


class InEvents(Payload, in_events=True, sensitive=("email",)):
    email: str


class Kept(Payload, sensitive=("email",)):
    email: str


def options(annotation, *paths):
    """A payload class with one field of that kind, which keeps these paths as sensitive."""
    return type("Said", (Payload,), {"__annotations__": {"it": annotation}}, sensitive=paths)


@pytest.mark.parametrize(
    ("annotation", "path"),
    [
        (str, "it"),
        (Card | None, "it"),
        (Card, "it.number"),
        (Card | None, "it.number"),
        (Card | Iban, "it.number"),
        (Annotated[list[Card], Field(max_length=3)], "it.number"),
        (tuple[Card, ...], "it.number"),
        (dict[str, list[Card]], "it.number"),
        (Card, "it.holder"),
        (Any, "it.whatever.there.is"),
        (dict, "it.whatever"),
        (Open, "it.whatever"),
        (Cards, "it.number"),
    ],
)
def test_path_may_name_any_field(annotation, path):
    assert options(annotation, path).type_sensitive == (path,)


@pytest.mark.parametrize(
    ("annotation", "path", "shown"),
    [
        (str, "that", "its fields are it"),
        (str, "it.number", "nothing there has 'number'"),
        (Card, "it.nmber", "nothing there has 'nmber'"),
        (list[Card | None], "it.nmber", "nothing there has 'nmber'"),
        (Card, "it.number.first", "nothing there has 'first'"),
        (Card, "it.holder.name", "nothing there has 'name'"),
        (str, "", "a path is"),
        (str, "it.", "a path is"),
        (str, "it..x", "a path is"),
        (str, "it.*", "a path is"),
        (str, 7, "a path is"),
    ],
)
def test_path_without_field_is_rejected_at_class_creation(annotation, path, shown):
    with pytest.raises(DeclarationError, match=shown.replace(".", r"\.")):
        options(annotation, path)


def test_paths_must_be_collection():
    with pytest.raises(DeclarationError, match="list the fields"):

        class Mistyped(Payload, sensitive="email"):
            email: str


class Ahead(Payload, sensitive=("card.number",)):
    card: Later


class Later(BaseModel):
    number: str


def test_path_may_pass_through_forward_reference():
    Ahead.model_rebuild()
    assert Ahead(card=Later(number="4711")).card.number == "4711"
    with pytest.raises(DeclarationError, match="its fields are card"):
        type("Other", (Payload,), {"__annotations__": {"card": "Nowhere"}}, sensitive=("cart.number",))


def test_subclass_inherits_sensitive_paths():
    class Base(Payload, sensitive=("email",)):
        email: str

    class Sub(Base, sensitive=("phone",)):
        phone: str

    assert Sub.type_sensitive == ("email", "phone")
    assert Base.type_sensitive == ("email",)


@pytest.mark.parametrize(
    ("payload", "paths", "left", "by"),
    [
        ({"a": "x", "b": "y"}, ["a"], {"a": REDACTED, "b": "y"}, ["a"]),
        ({"a": None}, ["a"], {"a": None}, []),
        ({"a": 0}, ["a"], {"a": REDACTED}, ["a"]),
        ({"a": ["x", "y"]}, ["a"], {"a": REDACTED}, ["a"]),
        ({"a": {"n": "x", "m": 1}}, ["a.n"], {"a": {"n": REDACTED, "m": 1}}, ["a.n"]),
        (
            {"a": [{"n": "x"}, None, {"n": None}]},
            ["a.n"],
            {"a": [{"n": REDACTED}, None, {"n": None}]},
            ["a.n"],
        ),
        (
            {"a": {"k": {"n": "x"}, "l": [{"n": "y"}]}},
            ["a.n"],
            {"a": {"k": {"n": REDACTED}, "l": [{"n": REDACTED}]}},
            ["a.n"],
        ),
        ({"a": {}}, ["a.n"], {"a": {}}, []),
        ({"a": "x"}, ["a.n"], {"a": REDACTED}, ["a.n"]),
        ({"a": {"m": "x"}}, ["a.n"], {"a": {"m": REDACTED}}, ["a.n"]),
        (
            {"a": {"n": {"n": "x"}, "k": {"n": "y", "m": 1}}},
            ["a.n"],
            {"a": {"n": REDACTED, "k": {"n": REDACTED, "m": 1}}},
            ["a.n"],
        ),
        ({"a": "x", "b": "y"}, ["a", "b"], {"a": REDACTED, "b": REDACTED}, ["a", "b"]),
        ({"a": {"n": "x"}}, ["a", "a.n"], {"a": REDACTED}, ["a"]),
    ],
)  # fmt: skip
def test_fields_at_paths_are_redacted_and_others_stay(payload, paths, left, by):
    assert redacted(payload, paths) == (left, tuple(by))


@pytest.mark.parametrize("payload", [{}, {"b": "x"}, [], "x", None])
def test_payload_without_first_field_of_path_is_redacted_entirely(payload):
    assert redacted(payload, ["a.n"]) == WHOLE == (None, (EVERYTHING,))


secrets = st.uuids().map(lambda item: f"secret-{item}")
cards = st.builds(lambda number: {"number": number, "holder": "h"}, secrets)
nested = st.recursive(
    cards | st.none(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["number", "holder", "work", "x"]), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(secrets, nested, st.text(max_size=5))
def test_redacted_payload_contains_no_sensitive_value(secret, card, other):
    left, _ = redacted({"email": secret, "card": card, "other": other}, ["email", "card.number"])
    assert "secret-" not in json.dumps(left)
    assert left["other"] == other


def test_manifest_has_paths_of_published_types_and_route_merges_them():
    app = App()

    @app.action
    def shown(payload: InEvents) -> None: ...

    @app.action
    def retained(payload: Kept) -> None: ...

    manifest = app.manifest
    assert Manifest.from_json(manifest.to_json(), manifest.jobs_json()) == manifest
    assert manifest.sensitive == {"in-events": ("email",)}
    other = Manifest("other", {"in-events": 1}, in_events=frozenset({"in-events"}))
    for both in ([manifest, other], [other, manifest]):
        assert routes_by_type(both)["in-events"].sensitive == ("email",)
