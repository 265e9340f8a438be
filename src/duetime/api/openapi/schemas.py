"""Schemas: the models of bodies and answers as JSON Schema, each with the words that its docstrings say."""

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

PLACE = "#/components/schemas/"


class Untitled(GenerateJsonSchema):
    """Schemas whose fields have no titles: these would only repeat the names."""

    def field_title_should_be_set(self, schema: Any) -> bool:  # noqa: ARG002 - pydantic's signature
        """No."""
        return False


def schemas_of(models: Iterable[tuple[Model, Mode]]) -> tuple[References, dict[str, Schema]]:
    """A reference to each model as it is sent (``validation``) or got (``serialization``), and all definitions."""
    wanted = list(dict.fromkeys(models))
    places, whole = models_json_schema(wanted, ref_template=PLACE + "{model}", schema_generator=Untitled)
    references = {(model, mode): places[model, mode] for model, mode in wanted}
    definitions: dict[str, Schema] = whole["$defs"]
    for model in _with_parts({model for model, _ in wanted}):
        if model.__name__ in definitions:
            _tell(definitions[model.__name__], _attribute_docs(model))
    return references, dict(sorted(definitions.items()))


def _tell(definition: Schema, told: dict[str, str]) -> None:
    for name, field in definition.get("properties", {}).items():
        if name in told:
            field.setdefault("description", told[name])
    if "enum" in definition:
        definition.setdefault("description", f"one of {', '.join(map(str, definition['enum']))}")


def _with_parts(models: set[Model]) -> set[Model]:
    """The models, and those that they are made of."""
    found, new = set[Model](), set(models)
    while new:
        found |= new
        new = {part for model in new for part in _parts(model)} - found
    return found


def _parts(model: Model) -> Iterable[Model]:
    for field in model.model_fields.values():
        for part in _leaves(field.annotation):
            if isinstance(part, type) and issubclass(part, BaseModel):
                yield part


def _leaves(annotation: Any) -> Iterable[Any]:
    inner = getattr(annotation, "__args__", ())
    if not inner:
        yield annotation
    for each in inner:
        yield from _leaves(each)


def _attribute_docs(model: Model) -> dict[str, str]:
    """What is said below each field, of the model and its bases.

    Pydantic could read it, but would do so whenever the class is made, and a cold start has no time for that.
    """
    told: dict[str, str] = {}
    for each in reversed(model.__mro__):
        if issubclass(each, BaseModel) and each is not BaseModel:
            told |= _docs_below_fields(each)
    return told


def _docs_below_fields(model: Model) -> dict[str, str]:
    [made] = ast.parse(textwrap.dedent(inspect.getsource(model))).body
    lines = made.body if isinstance(made, ast.ClassDef) else []
    return {
        field.target.id: inspect.cleandoc(doc.value.value).replace("``", "`")
        for field, doc in pairwise(lines)
        if isinstance(field, ast.AnnAssign)
        and isinstance(field.target, ast.Name)
        and isinstance(doc, ast.Expr)
        and isinstance(doc.value, ast.Constant)
        and isinstance(doc.value.value, str)
    }
