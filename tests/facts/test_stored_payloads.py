"""What is scheduled arrives: the stored payload is read back as an equal one, or its field is named."""

import dataclasses
import json
import re
import subprocess
import sys
from collections import deque
from collections.abc import Callable
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum, IntEnum
from functools import cached_property  # noqa: TID251 - as a caller's class has
from ipaddress import IPv4Address
from pathlib import PurePosixPath
from typing import Annotated, Any, Generic, Literal, NamedTuple, TypeVar
from uuid import UUID
from zoneinfo import ZoneInfo

import pydantic.dataclasses
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import (
    AfterValidator,
    AliasChoices,
    AliasPath,
    AnyUrl,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    Json,
    PlainSerializer,
    PrivateAttr,
    RootModel,
    SecretBytes,
    SecretStr,
    SerializeAsAny,
    computed_field,
    create_model,
    model_validator,
)
from typing_extensions import TypedDict

from duetime import App, Payload
from duetime.check import problems
from duetime.errors import InvalidPayload
from duetime.model.json_value import equal_text
from tests.cases import for_each


class Colour(Enum):
    RED = "red"
    BLUE = 2


class Line(BaseModel):
    item_id: int = Field(alias="itemId")
    tags: frozenset[str] = frozenset()


class Gift(Line):
    wish: str = ""


class Tag(BaseModel, frozen=True):
    name: str


class Alike(Tag, frozen=True):
    """Equal to each tag of its name."""

    note: str

    def __eq__(self, other):
        return isinstance(other, Tag) and self.name == other.name

    def __hash__(self):
        return hash(Tag(name=self.name))


class Word(str, Enum):  # noqa: UP042 - equal to its text
    RED = "red"


class One(IntEnum):
    ONE = 1


class AnyList(list):
    def __eq__(self, other):
        return True

    __hash__ = None


@pydantic.dataclasses.dataclass
class Spot:
    x: float
    name: str | None = Field(None, alias="spotName")


@dataclasses.dataclass(frozen=True)
class Plain:
    at: date


class Pair(NamedTuple):
    a: int
    b: str


class Person(TypedDict, total=False):
    name: Annotated[str, Field(alias="fullName")]
    born: date


class Ids(RootModel[set[int]]):
    pass


T = TypeVar("T")


class Box(BaseModel, Generic[T]):
    content: T


def gift():
    return Gift(itemId=3, wish="a bow")


PARIS = ZoneInfo("Europe/Paris")
SURVIVES = [
    (str, st.text(st.characters(codec="utf-8"))),
    (int, st.integers()),
    (bool, st.booleans()),
    (float, st.floats(allow_nan=False, allow_infinity=False)),
    (Decimal, st.decimals(allow_nan=False, allow_infinity=False)),
    (datetime, st.datetimes(datetime(1970, 1, 1), timezones=st.sampled_from([UTC, PARIS]))),
    (datetime, st.just(datetime(2027, 10, 31, 2, 30, tzinfo=PARIS, fold=1))),
    (datetime, st.datetimes().map(lambda at: at.replace(fold=0))),
    (date, st.dates()),
    (time, st.times().map(lambda at: at.replace(fold=0))),
    (timedelta, st.timedeltas(timedelta(days=-9_999), timedelta(days=9_999))),
    (UUID, st.uuids()),
    (bytes, st.binary().filter(lambda raw: raw.isascii())),
    (Colour, st.sampled_from(Colour)),
    (Literal["a", 1] | None, st.sampled_from(["a", 1, None])),
    (Line, st.builds(Line, itemId=st.integers(), tags=st.frozensets(st.text("abc")))),
    (Spot, st.builds(Spot, x=st.just(1.5), spotName=st.none() | st.text("abc"))),
    (Plain, st.builds(Plain, st.dates())),
    (Pair, st.builds(Pair, st.integers(), st.text("abc"))),
    (Person, st.fixed_dictionaries({"name": st.text("abc")}, optional={"born": st.dates()})),
    (Ids, st.builds(Ids, st.sets(st.integers()))),
    (Box[set[date]], st.builds(Box[set[date]], content=st.sets(st.dates(), max_size=4))),
    (list[Line], st.lists(st.builds(Line, itemId=st.integers()), max_size=3)),
    (set[str], st.sets(st.text("abcdef"), max_size=6)),
    (frozenset[tuple[int, str]], st.frozensets(st.tuples(st.integers(), st.text("ab")), max_size=4)),
    (dict[str, set[int]], st.dictionaries(st.text("abc"), st.sets(st.integers(), max_size=4), max_size=3)),
    (dict[date, int], st.dictionaries(st.dates(), st.integers(), max_size=3)),
    (deque[int], st.builds(deque, st.lists(st.integers(), max_size=3))),
    (IPv4Address, st.ip_addresses(v=4)),
    (PurePosixPath, st.just(PurePosixPath("/srv/shop"))),
    (AnyUrl, st.just(AnyUrl("https://example.com/a?b=c"))),
    (Json[list[int]], st.lists(st.integers(), max_size=3).map(json.dumps)),
    (Annotated[str, AfterValidator(str.lower)], st.text("abc")),
    (Annotated[set[int], PlainSerializer(sorted)], st.sets(st.integers(), max_size=5)),
    (int | str | None, st.integers() | st.text("abc") | st.none()),
    (
        Any,
        st.recursive(st.none() | st.booleans() | st.text("abc"), lambda inner: st.lists(inner, max_size=2)),
    ),
]
IS_LOST = [
    (SecretStr, st.just(SecretStr("s3cret"))),
    (dict[str, SecretBytes], st.just({"a": SecretBytes(b"s3cret")})),
    (Annotated[int, Field(exclude=True)], st.just(3)),
    (Annotated[int, AfterValidator(lambda number: number + 1)], st.integers()),
    (Annotated[str, BeforeValidator(lambda text: f"-{text}")], st.text("abc")),
    (Annotated[date, PlainSerializer(lambda day: f"{day:%d %B}")], st.dates()),
    (Annotated[float, PlainSerializer(round)], st.just(1.5)),
    (
        Any,
        st.sampled_from(
            [(1,), {1: 2}, {1}, b"x", Decimal("1.5"), date(2027, 1, 1), float("nan"), Colour.RED]
        ),
    ),
    (Any, st.sampled_from([[1, {"deep": float("inf")}], object(), Line(itemId=1), 10**5_000])),
    (Line, st.builds(gift)),
    (list[Line], st.builds(lambda: [gift()])),
    (SerializeAsAny[Line], st.builds(gift)),
    (bytes, st.just(b"\xff")),
    (datetime | str, st.just("2027-01-01T00:00:00Z")),
    (datetime, st.just(datetime(2027, 10, 31, 2, 30, fold=1))),
    (time, st.just(time(2, 30, fold=1))),
    (Tag, st.just(Alike(name="tea", note="for Ada"))),
    (Tag | None, st.just(Alike(name="tea", note="for Ada"))),
    (dict[str, Tag], st.just({"a": Alike(name="tea", note="for Ada")})),
    (frozenset[Tag], st.just(frozenset({Alike(name="tea", note="for Ada")}))),
]
ALIASES = [
    {},
    {"alias": "orderId"},
    {"validation_alias": "orderId"},
    {"serialization_alias": "orderId"},
    {"validation_alias": AliasChoices("orderId", "order-id")},
    {"validation_alias": AliasPath("order", "id")},
]
CONFIGS = [
    {},
    {"alias_generator": lambda name: f"x-{name}"},
    {"serialize_by_alias": True},
    {"validate_by_name": True, "validate_by_alias": False},
    {"extra": "allow"},
    {"strict": True},
    {"use_enum_values": True},
    {"ser_json_timedelta": "float"},
    {"ser_json_bytes": "base64", "val_json_bytes": "base64"},
    {"allow_inf_nan": True, "ser_json_inf_nan": "constants"},
    {"revalidate_instances": "always"},
]


@st.composite
def payloads(draw, fields, configs=CONFIGS):
    """Draw an instance of a class of pydantic's features, validated as a caller does."""
    kinds = draw(st.lists(st.sampled_from(fields), min_size=1, max_size=3))
    config = draw(st.sampled_from(configs))
    own, given_ = {}, {}
    for number, (kind, values) in enumerate(kinds):
        alias = draw(st.sampled_from(ALIASES)) if number == 0 else {}
        own[f"field_{number}"] = (kind, Field(**alias))
        given_[f"field_{number}"] = draw(values)
    base = type("Drawn", (Payload,), {"model_config": ConfigDict(**config)})
    model = create_model("Drawn", __base__=base, **own)
    return model.model_validate(given_, by_name=True, by_alias=False, strict=False)


def assert_fields_are_named(refused):
    assert all(re.match(r"field_\d", problem) for problem in refused.problems)


@settings(max_examples=50)
@given(payloads(SURVIVES))
def test_a_payload_is_read_back_as_an_equal_one_or_is_rejected(payload):
    try:
        written = payload.to_json()
    except InvalidPayload as refused:  # a class may choose a form that is not exact, or not strict
        config = type(payload).model_config
        assert_fields_are_named(refused)
        assert config.get("ser_json_timedelta") == "float" or config.get("strict")
        return
    read = type(payload).from_json(written)
    assert type(read) is type(payload)
    for name in type(payload).model_fields:
        value, found = getattr(payload, name), getattr(read, name)
        assert value == found or value.astimezone(UTC) == found.astimezone(UTC)
    assert read.to_json() == written
    assert "Infinity" not in json.dumps(json.loads(written))


@settings(max_examples=30)
@given(payloads(IS_LOST, CONFIGS[:4]))
def test_what_would_be_lost_is_rejected_with_its_field(payload):
    with pytest.raises(InvalidPayload) as refused:
        payload.to_json()
    assert_fields_are_named(refused.value)
    assert "s3cret" not in str(refused.value)


class Order(Payload):
    number: int = Field(ge=1, alias="orderNumber")
    name: str = "tea"


@pytest.mark.parametrize(
    ("made", "field"),
    [
        ({"number": "x"}, "number"),
        ({"number": 0}, "number"),
        ({"number": 1, "name": None}, "name"),
        ({"name": "tea"}, "number"),
        ({"number": 1, "name": Colour.RED}, "name"),
    ],
)
def test_a_payload_made_without_validation_is_checked(made, field):
    with pytest.raises(InvalidPayload, match=rf"'order': {field}: "):
        Order.model_construct(**made).to_json()


class Crate(Payload, extra="allow"):
    n: int = 1
    share: float = 1
    name: str = "tea"
    names: list[str] = Field([])
    tags: frozenset[str] = frozenset()
    by: dict[str, int] = Field({})


@pytest.mark.parametrize(
    ("made", "field"),
    [
        ({"n": True}, "n"),
        ({"n": One.ONE}, "n"),
        ({"n": 1.0}, "n"),
        ({"n": Decimal(1)}, "n"),
        ({"share": Decimal("1.5")}, "share"),
        ({"name": Word.RED}, "name"),
        ({"names": AnyList(["a"])}, "names"),
        ({"names": [Word.RED]}, r"names\.0"),
        ({"tags": frozenset({Word.RED})}, "tags"),
        ({"by": {Word.RED: 1}}, r"by\.Word\.RED"),
        ({"by": {"red": True}}, r"by\.red"),
        ({"more": Word.RED}, "more"),
        ({"more": {"deep": One.ONE}}, r"more\.deep"),
    ],
)
def test_an_equal_value_of_another_type_is_rejected(made, field):
    with pytest.raises(InvalidPayload, match=rf"'crate': {field}: "):
        Crate.model_construct(**made).to_json()


def test_a_whole_number_becomes_a_float():
    assert Crate.from_json(Crate().to_json()) == Crate()


def test_an_undeclared_name_of_a_copy_is_rejected():
    copied = Order(orderNumber=1).model_copy(update={"zz": 2})
    with pytest.raises(InvalidPayload, match="'order': zz: "):
        copied.to_json()


def test_a_copy_with_another_value_is_checked():
    with pytest.raises(InvalidPayload, match="number: "):
        Order(orderNumber=1).model_copy(update={"number": -1}).to_json()


def test_aliases_that_are_names_of_other_fields_confuse_nothing():
    class Swap(Payload):
        a: int = Field(alias="b")
        b: int = Field(alias="a")

    swap = Swap(a=1, b=2)
    assert swap.to_json() == '{"a":2,"b":1}'
    assert Swap.from_json(swap.to_json()) == swap
    assert Swap.from_json('{"a": 1, "b": 2}', by_alias=True) == swap


def test_a_computed_field_is_not_stored_and_a_cached_one_changes_nothing():
    class Sum(Payload):
        n: int

        @computed_field
        def double(self) -> int:
            return 2 * self.n

        @cached_property
        def triple(self) -> int:
            return 3 * self.n

    payload = Sum(n=2)
    assert payload.triple == 6
    assert payload.to_json() == '{"n":2}'


def test_a_changed_private_attribute_is_rejected():
    class Marked(Payload):
        n: int
        _mark: int = PrivateAttr(0)

    payload = Marked(n=1)
    assert payload.to_json() == '{"n":1}'
    payload._mark = 2
    with pytest.raises(InvalidPayload, match="_mark: "):
        payload.to_json()


def test_an_equality_of_the_class_own_does_not_count():
    class Odd(Payload):
        n: int
        pin: SecretStr

        def __eq__(self, other):
            return True

        __hash__ = None

    with pytest.raises(InvalidPayload, match="pin: "):
        Odd(n=1, pin="1234").to_json()


def test_a_validator_of_the_whole_payload_that_changes_it_again_is_rejected():
    class Priced(Payload):
        cents: int

        @model_validator(mode="before")
        @classmethod
        def taxed(cls, given):
            return {"cents": given["cents"] * 2}

    with pytest.raises(InvalidPayload, match="cents: "):
        Priced(cents=1).to_json()


SETS = """
from duetime import Payload
from pydantic import BaseModel
class Tag(BaseModel, frozen=True):
    name: str
    of: frozenset[str] = frozenset()
class Index(Payload):
    names: set[str]
    tags: frozenset[Tag]
    by: dict[str, set[str]]
words = {"tea", "coffee", "milk", "juice"}
tags = frozenset(Tag(name=word, of=words) for word in words)
print(Index(names=words, tags=tags, by={"a": words}).to_json())
"""


def test_sets_are_written_in_one_order_in_every_process():
    texts = {
        subprocess.run(  # noqa: S603 - this interpreter
            [sys.executable, "-c", SETS],
            env={"PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("1", "2", "3")
    }
    assert len(texts) == 1


@pytest.mark.parametrize(
    ("one", "other", "are_equal"),
    [
        ('{"a":1,"b":{"c":2,"d":3}}', '{"b":{"d":3,"c":2},"a":1}', True),
        ('{"a":1}', '{"a":1.0}', True),
        ('{"a":"é"}', '{"a":"\\u00e9"}', True),
        ('{"a":[1,2]}', '{"a":[2,1]}', False),
        ('{"a":1}', '{"a":"1"}', False),
        ('{"a":1.5}', '{"a":1}', False),
        ("not json", "not json ", False),
    ],
)
def test_equal_values_have_equal_texts(one, other, are_equal):
    assert (equal_text(one) == equal_text(other)) is are_equal


def test_the_check_of_an_app_goes_on_after_a_class_without_a_schema():
    app = App()

    class Call(Payload):
        back: Callable | None = None

    class Other(Payload):
        key: SecretStr = SecretStr("x")

    for kind in (Call, Other):

        def handle(payload): ...

        handle.__annotations__ = {"payload": kind}
        app.action(handle)
    without, secret = problems(app)
    assert without.startswith("call: Call has no JSON schema")
    assert secret.startswith("other: Other.key holds a secret")


@pytest.mark.parametrize(("kind", "values"), IS_LOST[:6])
def test_the_check_of_an_app_names_fields_that_are_lost(kind, values):
    del values
    drawn = create_model("Drawn", __base__=Payload, lost=(kind, ...))
    app = App()

    def handle(payload): ...

    handle.__annotations__ = {"payload": drawn}
    app.action(handle)
    (problem,) = problems(app)
    assert problem.startswith("drawn: Drawn.lost")


@for_each(("kind", "values"), SURVIVES)
def test_the_check_of_an_app_admits_fields_that_survive(kind, values):
    del values
    drawn = create_model("Drawn", __base__=Payload, field=(kind, ...))
    app = App()

    def handle(payload): ...

    handle.__annotations__ = {"payload": drawn}
    app.action(handle)
    assert problems(app) == []
