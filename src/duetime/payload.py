"""Payloads: the data of an action, as a frozen pydantic model with a stable name, which rows store.

The name is looked up among the registered types; it never imports anything.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterator
from typing import Any, ClassVar, NoReturn, Self

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic_core import from_json, to_json

from duetime.errors import DeclarationError, InvalidPayload, truncate
from duetime.model import read_back, sensitive_fields

TYPE_NAME = re.compile(r"[a-z][a-z0-9]*(?:-[a-z0-9]+)*", re.ASCII)
TYPE_NAME_LIMIT = 100
_HUMPS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


class Payload(BaseModel):
    """The base of every payload: immutable; unknown fields are rejected.

    A subclass is named after its class (``ApplyPlanChange`` is ``apply-plan-change``), or by an argument:
    ``class ApplyPlanChange(Payload, name="plan-change", version=2)``.
    """

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        allow_inf_nan=False,
        hide_input_in_errors=True,
    )

    type_name: ClassVar[str] = ""
    type_version: ClassVar[int] = 1
    type_is_in_events: ClassVar[bool] = False
    type_sensitive: ClassVar[tuple[str, ...]] = ()
    type_merge: ClassVar[Callable[[Any, Any], Any] | None] = None
    type_rate: ClassVar[Any] = None
    """The `Rate` of its handler, in a process that declares one."""

    def __init_subclass__(
        cls,
        *,
        name: str | None = None,
        version: int = 1,
        in_events: bool = False,
        sensitive: Collection[str] = (),
        merge: Callable[[Any, Any], Any] | None = None,
        **rest: Any,
    ) -> None:
        """Set the stable name of the class, and whether lifecycle events contain its payloads.

        Args:
            name: its name in rows, in kebab-case; the class' own name by default.
            version: counts the changes of its fields, from 1.
            in_events: whether lifecycle events contain its payloads, without the sensitive fields.
            sensitive: paths of the fields that only callers with ``payloads:read`` see: ``("email",
                "card.number")``. The base class' paths are included.
            merge: returns the payload of a pending debounced action after a further call, from its own and
                from the call's; by default the call's. A repeat after an error merges twice.
            rest: pydantic's own options.

        Raises:
            DeclarationError: the name is not kebab-case, the version no positive number, `upcast` no class
                method, `merge` no function, or a path leads nowhere.
        """
        super().__init_subclass__(**rest)
        cls.type_name = kebab(cls.__name__) if name is None else name
        cls.type_version = version
        cls.type_is_in_events = in_events
        cls.type_sensitive = sensitive_fields.paths_of(sensitive, cls.type_sensitive, cls.__qualname__)
        if not TYPE_NAME.fullmatch(cls.type_name) or len(cls.type_name) > TYPE_NAME_LIMIT:
            raise DeclarationError(
                f"{cls.__qualname__}: the payload's name {cls.type_name!r} must be kebab-case, such as"
                f" apply-plan-change, in at most {TYPE_NAME_LIMIT} characters"
            )
        if version < 1:
            raise DeclarationError(f"{cls.__qualname__}: version is {version!r}; use a whole number from 1")
        if merge is not None:
            if not callable(merge):
                raise DeclarationError(
                    f"{cls.__qualname__}: merge is {merge!r}; use a function of two payloads"
                )
            cls.type_merge = staticmethod(merge)
        if "upcast" in vars(cls) and not isinstance(vars(cls)["upcast"], classmethod):
            raise DeclarationError(
                f"{cls.__qualname__}: upcast must be a class method; write @classmethod above it"
            )

    @classmethod
    def __pydantic_init_subclass__(cls, **_options: Any) -> None:
        """Check the sensitive paths, once the fields exist."""
        sensitive_fields.check(cls, cls.type_sensitive)

    @classmethod
    def upcast(cls, written: dict[str, Any], version: int) -> dict[str, Any]:
        """Convert the payload of an earlier version to this one; override it to do so.

        It is called once, with the version that wrote the payload, before the validation. It must handle the
        versions in between itself::

            if version < 2:
                written["share"] = written.pop("percent") / 100
            if version < 3:
                written.setdefault("currency", "EUR")
            return written

        Args:
            written: the parsed JSON of the payload.
            version: lower than the class' own.
        """
        del version
        return written

    def to_json(self) -> str:
        """Return the payload as JSON, as the row stores it: `from_json` reads an equal one from it.

        Fields have their names, not their aliases, and sets are sorted. The fields that the caller left unset
        are written too, so the handler gets them as set.

        Raises:
            InvalidPayload: JSON cannot carry a value, or no equal one can be read back. Each problem begins
                with its field.
        """
        cls = type(self)
        try:
            written = self.model_dump_json(by_alias=False, round_trip=True, warnings=False)
            if read_back.may_hold_sets(cls):
                written = _with_sorted_sets(self, written)
            if "Infinity" in written:
                json.loads(written, parse_constant=_refuse_constant)
            read = cls.model_validate_json(written, by_alias=False, by_name=True)
            changed = dict.fromkeys(read_back.differences(self, read))
            if not (problems := [f"{path}: {_CHANGES}" for path in changed]):
                return written
        except ValidationError as error:
            problems = list(self._unwritable()) or [
                f"{found}; what is stored could not be read back" for found in _problems(error)
            ]
        except Exception as error:  # noqa: BLE001 - serializers and validators are the user's own code
            problems = list(self._unwritable()) or [f"{type(error).__name__}: {truncate(error)}"]
        raise InvalidPayload(self.type_name, problems) from None

    def _unwritable(self) -> Iterator[str]:
        """Yield a problem for each field that JSON cannot carry."""
        for name in type(self).model_fields:
            try:
                from_json(
                    self.model_dump_json(by_alias=False, round_trip=True, warnings=False, include={name}),
                    allow_inf_nan=False,
                )
            except Exception as error:  # noqa: BLE001 - as above
                yield f"{name}: JSON cannot carry it: {truncate(error)}"

    def merged_into(self, written: str, version: int) -> Self:
        """Return the payload of a pending debounced action after a call with this one.

        Args:
            written: the action's payload.
            version: the version that wrote it.

        Raises:
            InvalidPayload: the action's payload cannot be read, or `merge` raised or returned another type.
        """
        merge = type(self).type_merge
        if merge is None:
            return self
        first = type(self).from_json(written, version=version)
        try:
            merged = merge(first, self)
        except Exception as error:  # noqa: BLE001 - the user's own code
            _refuse(self.type_name, f"its merge raised {type(error).__name__}: {truncate(error)}", error)
        if not isinstance(merged, type(self)):
            found = type(merged).__name__
            _refuse(self.type_name, f"its merge returned {found}; it must return a {type(self).__name__}")
        return merged

    @classmethod
    def from_json(cls, written: str | bytes, *, version: int | None = None, by_alias: bool = False) -> Self:
        """Parse and validate a payload from `to_json`, or from a client.

        Args:
            written: the payload.
            version: the version of this type that wrote it; by default this one.
            by_alias: whether its fields may have their aliases too, as a client's have.

        Raises:
            InvalidPayload: it is no JSON, its model rejects it (values are not repeated in the message), or
                `upcast` raised.
        """
        if version is None or version == cls.type_version:
            return cls._validated(written, by_alias=by_alias)
        if version > cls.type_version:
            _refuse(cls.type_name, f"written in version {version}; this code reads up to {cls.type_version}")
        try:
            return cls._validated(cls._upcast(written, version), by_alias=by_alias)
        except InvalidPayload as refused:
            versions = f"written in version {version}, read as version {cls.type_version}"
            problem = f"{versions}: {'; '.join(refused.problems)}"
            raise InvalidPayload(cls.type_name, [problem]) from refused.__cause__

    @classmethod
    def _upcast(cls, written: str | bytes, version: int) -> str | bytes:
        try:
            read = json.loads(written)
        except (ValueError, RecursionError):
            return written  # the model's error describes the problem
        if not isinstance(read, dict):
            return written
        try:
            return to_json(_dict(cls.upcast(read, version)))
        except Exception as error:  # noqa: BLE001 - the user's own code
            _refuse(cls.type_name, f"its upcast raised {type(error).__name__}: {truncate(error)}", error)

    @classmethod
    def _validated(cls, written: str | bytes, *, by_alias: bool) -> Self:
        try:
            return cls.model_validate_json(written, by_alias=by_alias, by_name=True)
        except ValidationError as error:
            raise InvalidPayload(cls.type_name, _problems(error)) from None


_CHANGES = (
    "what is stored would be read back as another value; use a type whose JSON is read back as an equal value"
)


def _with_sorted_sets(payload: Payload, written: str) -> str:
    read = read_back.with_sorted_sets(payload, json.loads(written))
    return json.dumps(read, ensure_ascii=False, separators=(",", ":"))


def _refuse_constant(constant: str) -> NoReturn:
    raise ValueError(f"it holds {constant}, which JSON cannot carry; use null or text")


def kebab(name: str) -> str:
    """Return a class's name in kebab-case: ``ApplyPlanChange`` is ``apply-plan-change``."""
    return _HUMPS.sub("-", name).lower()


def _dict(became: object) -> dict[str, Any]:
    if not isinstance(became, dict):
        raise TypeError(f"it returned {type(became).__name__}, not a dict")
    return became


def _problems(error: ValidationError) -> list[str]:
    return [_message(problem) for problem in error.errors(include_url=False, include_input=False)]


def _message(problem: Any) -> str:
    where = ".".join(map(str, problem["loc"]))
    return f"{where}: {problem['msg']}" if where else problem["msg"]


def _refuse(type_name: str, problem: str, cause: BaseException | None = None) -> NoReturn:
    raise InvalidPayload(type_name, [problem]) from cause
