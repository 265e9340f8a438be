"""The versions of one payload's type."""
# ruff: noqa: ARG003 - an upcast is given more than each needs

from typing import Any

from duetime import Payload


class DiscountV1(Payload, name="discount"):
    percent: int


class DiscountV2(Payload, name="discount", version=2):
    share: float

    @classmethod
    def upcast(cls, written: dict[str, Any], version: int) -> dict[str, Any]:
        if version < 2:
            written["share"] = written.pop("percent") / 100
        return written


class DiscountV3(Payload, name="discount", version=3):
    share: float
    currency: str

    @classmethod
    def upcast(cls, written: dict[str, Any], version: int) -> dict[str, Any]:
        if version < 2:
            written["share"] = written.pop("percent") / 100
        if version < 3:
            written["currency"] = "EUR"
        return written


class Careless(Payload, name="discount", version=2):
    share: float


class Lenient(Payload, name="discount", version=2):
    percent: int
    reason: str = "none"


class Broken(Payload, name="discount", version=2):
    share: float

    @classmethod
    def upcast(cls, written: dict[str, Any], version: int) -> dict[str, Any]:
        raise LookupError("there is no share for " + "x" * 1_000)
