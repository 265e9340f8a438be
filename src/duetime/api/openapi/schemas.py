"""JSON Schemas of bodies and responses, with the docstrings below fields as descriptions."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Iterable, Mapping
from itertools import pairwise
from typing import Any, Literal

from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema, models_json_schema

Model = type[BaseModel]
Mode = Literal["validation", "serialization"]
Schema = dict[str, Any]
References = Mapping[tuple[Model, Mode], Schema]

REFERENCE = "#/components/schemas/"


class Untitled(GenerateJsonSchema):
    """Generates schemas without titles of fields: these would repeat the names."""

    def field_title_should_be_set(self, schema: Any) -> bool:  # noqa: ARG002 - pydantic's signature
        """Return False."""
        return False

    def model_schema(self, schema: Any) -> Schema:
        """Return the schema of a model, with the docstrings below its fields.

        Pydantic's `use_attribute_docstrings` would read the source whenever a class is created: too slow for
        a
        cold start.
        """
        generated = super().model_schema(schema)
        descriptions: dict[str, str] = {}
        for model in reversed(schema["cls"].__mro__):
            if issubclass(model, BaseModel) and model is not BaseModel:
                descriptions |= _docstrings_below_fields(model)
        for name, field in generated.get("properties", {}).items():
            if name in descriptions:
                field.setdefault("description", descriptions[name])
        return generated

    def enum_schema(self, schema: Any) -> Schema:
        """Return the schema of an enum, whose description lists its values."""
        generated = super().enum_schema(schema)
        generated.setdefault("description", f"one of {', '.join(map(str, generated['enum']))}")
        return generated


def schemas_of(models: Iterable[tuple[Model, Mode]]) -> tuple[References, dict[str, Schema]]:
    """Return a reference to each model, as it is sent or received, and all schemas by name."""
    references: Any
    references, generated = models_json_schema(
        list(dict.fromkeys(models)), ref_template=REFERENCE + "{model}", schema_generator=Untitled
    )
    return references, dict(sorted(generated["$defs"].items()))


def _docstrings_below_fields(model: Model) -> dict[str, str]:
    [definition] = ast.parse(textwrap.dedent(inspect.getsource(model))).body
    lines = definition.body if isinstance(definition, ast.ClassDef) else []
    return {
        field.target.id: " ".join(docstring.value.value.split()).replace("``", "`")
        for field, docstring in pairwise(lines)
        if isinstance(field, ast.AnnAssign)
        and isinstance(field.target, ast.Name)
        and isinstance(docstring, ast.Expr)
        and isinstance(docstring.value, ast.Constant)
        and isinstance(docstring.value.value, str)
    }
