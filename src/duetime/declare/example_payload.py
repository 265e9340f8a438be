"""Make valid examples of a payload from its model's JSON schema, for commands to paste and for the check."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from duetime.errors import InvalidPayload
from duetime.payload import Payload

Schema = Mapping[str, Any]

_BY_FORMAT = {
    "uuid": "5f0c1f6e-3c50-4a8b-9a3e-6d1f0a7b2c4d",
    "date-time": "2027-06-01T09:00:00Z",
    "date": "2027-06-01",
    "time": "09:00:00Z",
    "duration": "PT1H",
    "email": "someone@example.com",
    "uri": "https://example.com/",
    "ipv4": "192.0.2.1",
    "ipv6": "2001:db8::1",
}
_DEEPEST = 20


def example_of(payload: type[Payload], *, is_full: bool = False) -> str | None:
    """Return JSON that the model accepts; None if none can be made, as for a pattern or a validator.

    A full example also has the fields with defaults, and an item in each list.
    """
    schema = payload.model_json_schema()
    try:
        written = json.dumps(_Maker(schema.get("$defs", {}), is_full=is_full).example(schema))
        payload.from_json(written, by_alias=True)
    except (InvalidPayload, RecursionError, ValueError, TypeError, LookupError):
        return None
    return written


class _Maker:
    def __init__(self, definitions: Mapping[str, Schema], *, is_full: bool) -> None:
        self._definitions, self._is_full = definitions, is_full

    def example(self, schema: Schema, depth: int = 0) -> Any:
        if depth > _DEEPEST:
            raise RecursionError("the schema refers to itself endlessly")
        if "$ref" in schema:
            return self.example(self._definitions[schema["$ref"].rpartition("/")[2]], depth + 1)
        for given in ("const", "default"):
            if given in schema and not (self._is_full and given == "default"):
                return schema[given]
        for listed in ("examples", "enum"):
            if schema.get(listed):
                return schema[listed][0]
        for choice in ("anyOf", "oneOf", "allOf"):
            if choice in schema:
                return self.example(schema[choice][0], depth + 1)
        return self._of_type(schema, depth)

    def _of_type(self, schema: Schema, depth: int) -> Any:
        match schema.get("type"):
            case "object":
                fields, others = schema.get("properties", {}), schema.get("additionalProperties")
                if self._is_full and isinstance(others, dict):
                    fields = {**fields, "example": others}
                names = fields if self._is_full else schema.get("required", ())
                return {name: self.example(fields[name], depth + 1) for name in names}
            case "array":
                return self._array(schema, depth)
            case "string":
                return _text(schema)
            case "integer" | "number":
                return _number(schema)
            case "boolean":
                return True
            case _:
                return None

    def _array(self, schema: Schema, depth: int) -> list[Any]:
        fixed = [self.example(item, depth + 1) for item in schema.get("prefixItems", ())]
        has_one = self._is_full and "items" in schema
        missing = max(schema.get("minItems", 0), has_one) - len(fixed)
        return fixed + [self.example(schema["items"], depth + 1) for _ in range(missing)]


def _text(schema: Schema) -> str:
    text = _BY_FORMAT.get(schema.get("format", ""), "example")
    shortest, longest = schema.get("minLength", 0), schema.get("maxLength", len(text) + 1)
    return text.ljust(shortest, "x") if len(text) < shortest else text[: max(shortest, longest)]


def _number(schema: Schema) -> Any:
    step = schema.get("multipleOf", 1)
    lowest = max(schema.get("minimum", 1), schema.get("exclusiveMinimum", 1 - step) + step)
    highest = min(schema.get("maximum", lowest), schema.get("exclusiveMaximum", lowest + step) - step)
    return min(lowest, highest) if step == 1 else -(-lowest // step) * step
