"""The document: all routes in one, as OpenAPI 3.1."""

from __future__ import annotations

from collections.abc import Iterable

from duetime.api.openapi.inputs import signature_of
from duetime.api.openapi.names import tags
from duetime.api.openapi.operations import operation
from duetime.api.openapi.refusals import PROBLEM, problem_schema, responses
from duetime.api.openapi.schemas import Mode, Model, Schema, schemas_of
from duetime.api.routes import Route

VERSION = "0.1.0"
"""The package's; a bundle of a function has no metadata that would tell it."""

_ABOUT = """\
Schedules actions, and looks after jobs, of the caller's tenant.

A person sends an ID token of the deployment's user pool; a service signs its requests and calls the deployment's other URL.
`x-permission` is what the caller's roles must allow; of two that are told, either will do. Who and whose is what the token
or the signature says: what a request names as `tenant`, `tenant_id`, `actor`, `user` or `created_by` is ignored. Every other
field or parameter that is not told here is refused, and so is a filter that is said twice.

Times are ISO 8601; in answers in UTC, with `Z`. A list has `next_cursor` while there is more; say it as `cursor`.
Every refusal is a problem (RFC 9457). An answer may have more fields in a later version, and a problem more members."""

_SECURITY = {
    "idToken": {
        "type": "apiKey",
        "in": "header",
        "name": "Authorization",
        "description": "The ID token of a sign-in to the user pool, as it is: without `Bearer`.",
        "x-amazon-apigateway-authtype": "cognito_user_pools",
    },
    "signature": {
        "type": "apiKey",
        "in": "header",
        "name": "Authorization",
        "description": "AWS Signature Version 4 for the service `execute-api`; the setting `identities` knows the signer.",
        "x-amazon-apigateway-authtype": "awsSigv4",
    },
}


def document(routes: Iterable[Route], *, server: str, api_tag: str = "") -> Schema:
    """The document of these routes.

    Args:
        routes: all that is served.
        server: where they are found: a URL, or the path of the prefix.
        api_tag: what all operations are grouped by; each by its subject when empty.
    """
    taken = {(route.path, route.method): (route, signature_of(route)) for route in routes}
    models: list[tuple[Model, Mode]] = []
    for _, signature in taken.values():
        models += [(signature.body, "validation")] if signature.body else []
        models += [(signature.answer, "serialization")] if signature.answer else []
    references, schemas = schemas_of(models)
    paths: dict[str, Schema] = {}
    for route, signature in sorted(taken.values(), key=lambda each: each[0].path):
        path = paths.setdefault(route.path.replace("<", "{").replace(">", "}"), {})
        path[route.method.lower()] = operation(route, signature, references, api_tag=api_tag)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "duetime",
            "version": VERSION,
            "summary": "The admin API of a scheduler for serverless AWS.",
            "description": _ABOUT,
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": server}],
        "security": [{name: []} for name in _SECURITY],
        "tags": [{"name": name, "description": words} for name, words in tags(api_tag).items()],
        "paths": paths,
        "components": {
            "schemas": schemas | {PROBLEM: problem_schema()},
            "responses": responses(),
            "securitySchemes": _SECURITY,
        },
    }
