"""The commands that the local cloud suggests are valid."""

import json
import shlex
from datetime import date, datetime, timedelta
from enum import StrEnum
from typing import Annotated, Literal
from uuid import UUID

import pytest
from pydantic import BaseModel, Field, model_validator

from duetime import App, Payload
from duetime.declare.example_payload import example_of
from duetime.local.welcome import commands, welcome
from duetime.settings import Settings
from examples.billing import app as billing


class Plan(StrEnum):
    SMALL = "small"


class Line(BaseModel):
    sku: str
    count: Annotated[int, Field(gt=0, multiple_of=5)]


class Everything(Payload):
    id: UUID
    at: datetime
    day: date
    span: timedelta
    plan: Plan
    kind: Literal["a", "b"]
    ratio: Annotated[float, Field(ge=0, lt=1)]
    few: Annotated[int, Field(le=-3)]
    code: Annotated[str, Field(min_length=9, max_length=12)]
    short: Annotated[str, Field(max_length=2)]
    lines: Annotated[list[Line], Field(min_length=2)]
    pair: tuple[int, str]
    names: dict[str, int]
    maybe: int | None
    flag: bool
    shown: Annotated[str, Field(pattern=r"^o-\d$", examples=["o-7"])]
    note: str = "left out"


class Patterned(Payload):
    code: Annotated[str, Field(pattern=r"^\d{4}$")]


class Ruled(Payload):
    text: str

    @model_validator(mode="after")
    def refuses(self):
        raise ValueError("never")


class Nested(Payload):
    inner: "Nested"


def test_an_example_is_valid_for_its_model():
    example = example_of(Everything)
    read = Everything.from_json(example)
    assert "note" not in json.loads(example)
    assert len(read.lines) == 2


@pytest.mark.parametrize("payload", [Patterned, Ruled, Nested])
def test_some_models_have_no_example(payload):
    assert example_of(payload) is None


def test_the_suggested_command_schedules_a_valid_payload():
    words = shlex.split(commands(billing, "http://127.0.0.1:8080")[0])
    assert words[:3] == ["duetime", "schedule", "apply-plan-change"]
    assert billing.payload("apply-plan-change", words[words.index("--payload") + 1])
    assert "--url" not in words


def test_the_suggested_commands_name_another_port():
    url, usual = "http://127.0.0.1:9999", "http://127.0.0.1:8080"
    assert all(url in command for command in commands(billing, url))
    needed = "commands without --url, first run:"
    assert needed in welcome(billing, Settings(), url)
    assert needed not in welcome(billing, Settings(), usual)


def test_a_type_with_an_example_is_preferred():
    app = App()

    @app.action
    def first(payload: Patterned) -> None: ...

    assert "'{…}'" in commands(app, "http://127.0.0.1:8080")[0]

    @app.action
    def second(payload: Everything) -> None: ...

    assert commands(app, "http://127.0.0.1:8080")[0].startswith("duetime schedule everything")
