"""Payloads: what an action carries. A frozen pydantic model with a stable name; the name is what rows keep.

The name is looked up among the types that code registered, and nothing is ever imported by it.
"""

from __future__ import annotations

import json
import re
from typing import Any, ClassVar, NoReturn, Self

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic_core import PydanticSerializationError

from duetime.errors import DeclarationError, InvalidPayload

TYPE_NAME = re.compile(r"[a-z][a-z0-9]*(?:-[a-z0-9]+)*", re.ASCII)
TYPE_NAME_LIMIT = 100
_HUMPS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


class Payload(BaseModel):
    """The base of every payload: immutable, and strict about fields that it does not know.

    A subclass is named after its class (``ApplyPlanChange`` is ``apply-plan-change``), or as it says itself:
    ``class ApplyPlanChange(Payload, name="plan-change", version=2)``.
    """

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        allow_inf_nan=False,
        ser_json_inf_nan="constants",
        hide_input_in_errors=True,
    )

    type_name: ClassVar[str] = ""
    type_version: ClassVar[int] = 1

    def __init_subclass__(cls, *, name: str | None = None, version: int = 1, **rest: Any) -> None:
        """Give the class its stable name.

        Raises:
            DeclarationError: the name is not kebab-case, or the version no positive number.
        """
        super().__init_subclass__(**rest)
        cls.type_name = kebab(cls.__name__) if name is None else name
        cls.type_version = version
        if not TYPE_NAME.fullmatch(cls.type_name) or len(cls.type_name) > TYPE_NAME_LIMIT:
            raise DeclarationError(
                f"{cls.__qualname__}: the payload's name {cls.type_name!r} must be kebab-case, such as"
                f" apply-plan-change, in at most {TYPE_NAME_LIMIT} characters"
            )
        if version < 1:
            raise DeclarationError(f"{cls.__qualname__}: version is {version!r}; say a whole number from 1")

    def to_json(self) -> str:
        """The payload as the row keeps it.

        Raises:
            InvalidPayload: it holds what JSON cannot carry: NaN, an infinity, endless or very deep nesting.
        """
        try:
            written = self.model_dump_json()
        except (PydanticSerializationError, ValueError, RecursionError) as error:
            _refuse(self.type_name, str(error), error)
        if "NaN" in written or "Infinity" in written:
            self._refuse_constants(written)
        return written

    def _refuse_constants(self, written: str) -> None:
        def refuse(constant: str) -> NoReturn:
            _refuse(self.type_name, f"holds {constant}, which JSON cannot carry; use null or text")

        json.loads(written, parse_constant=refuse)

    @classmethod
    def from_json(cls, written: str | bytes) -> Self:
        """Read and validate what `to_json` wrote, or what a client sent.

        Raises:
            InvalidPayload: it is no JSON, or its model refuses it; values are not repeated in the message.
        """
        try:
            return cls.model_validate_json(written)
        except ValidationError as error:
            problems = [_told(each) for each in error.errors(include_url=False, include_input=False)]
            raise InvalidPayload(cls.type_name, problems) from None


def kebab(name: str) -> str:
    """A class's name in kebab-case: ``ApplyPlanChange`` is ``apply-plan-change``."""
    return _HUMPS.sub("-", name).lower()


def _told(problem: Any) -> str:
    where = ".".join(map(str, problem["loc"]))
    return f"{where}: {problem['msg']}" if where else problem["msg"]


def _refuse(type_name: str, problem: str, cause: BaseException | None = None) -> NoReturn:
    raise InvalidPayload(type_name, [problem]) from cause
