"""Chooses a scheduler and calls its admin API as one caller; its rejections are failures of the command."""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from duetime import api
from duetime._english import nearest
from duetime.api import PREFIX
from duetime.cli.failures import BadUsage, RequestRejected, strange_answer
from duetime.cli.tables import positive_seconds
from duetime.environment import CommandLine

if TYPE_CHECKING:  # `duetime --help` needs no HTTP
    from duetime.cli.exchange import Received

Query: TypeAlias = Mapping[str, Any]
"""Parameters of a request, without those that are None; a list is a repeated one."""

Json = Mapping[str, Any]
"""A JSON object."""

LOCAL = "http://127.0.0.1:8080"
"""The default URL of the local cloud."""

_GATEWAY = re.compile(r"https://[a-z0-9-]+\.execute-api\.[a-z0-9-]+\.amazonaws\.com(\.cn)?(/|$)")
_URL = re.compile(r"https?://[!-~]+", re.ASCII)
# Each successful response of the API has one of these fields.
_OURS = {
    *(
        "actor",
        "begun_at",
        "capacity",
        "changed",
        "id",
        "items",
        "name",
        "parts",
        "read",
        "revision",
        "role",
        "sentence",
    ),
    "waits_until",
}
_NO_CONTENT, _ERROR, _UNAUTHENTICATED, _TOO_MANY = 204, 400, 401, 429


class ApiOperation(NamedTuple):
    """A route of the API by its OpenAPI document; the path has short names, such as ``{id}``."""

    method: str
    path: str
    parameters: Sequence[str]
    """Of the query."""
    fields: Mapping[str, Json]
    """Of the body, with their schemas: the first of several, without references."""


@cache
def operations() -> Mapping[str, ApiOperation]:
    """Return the operations of the API by their ids, from the document that the API serves."""
    document = json.loads(Path(api.__file__).with_name("openapi").joinpath("served.json").read_bytes())
    schemas = document["components"]["schemas"]
    return {
        route["operationId"]: ApiOperation(
            method.upper(),
            re.sub(r"{\w+_(\w+)}", r"{\1}", path.strip("/")),
            [one["name"] for one in route.get("parameters", ()) if one["in"] == "query"],
            {
                name: {**_named(field.get("anyOf", [field])[0], schemas), **field}
                for body in route.get("requestBody", {}).get("content", {}).values()
                for name, field in _named(body["schema"], schemas)["properties"].items()
            },
        )
        for path, routes in document["paths"].items()
        for method, route in routes.items()
    }


def _named(schema: Json, schemas: Json) -> Json:
    """Return a schema itself, or the one to which it refers."""
    return schemas[schema["$ref"].rpartition("/")[2]] if "$ref" in schema else schema


class Answer(NamedTuple):
    """A successful response of the API."""

    status: int
    body: dict[str, Any]
    etag: str | None
    """Names the state that it shows; a change with it applies to that state alone."""


class Client(NamedTuple):
    """One scheduler's API, as one caller.

    `url` is the stack's output, with or without the prefix at its end. `tenant` and `user` name the caller
    on the local cloud; a deployment ignores them and reads the ID token or the signature.
    """

    url: str
    tenant: str | None = None
    user: str | None = None
    token: str | None = None
    signs: bool = False
    region: str | None = None
    prefix: str = PREFIX
    """The deployment's `api_prefix`."""
    timeout: float = 35
    """Seconds: how long a response may take."""

    def ask(
        self,
        method: str,
        *path: str,
        query: Query | None = None,
        body: Mapping[str, Any] | None = None,
        etag: str | None = None,
    ) -> dict[str, Any]:
        """Make one call, and return the response's body, empty without content; `path` is in segments.

        Raises:
            OperationFailed: as `answer`.
        """
        return self.answer(method, *path, query=query, body=body, etag=etag).body

    def answer(
        self,
        method: str,
        *path: str,
        query: Query | None = None,
        body: Mapping[str, Any] | None = None,
        etag: str | None = None,
    ) -> Answer:
        """Make one call, and return its response.

        Args:
            method: of HTTP.
            path: in segments.
            query: the parameters.
            body: the JSON body.
            etag: of the state to which the call applies; in another state it is rejected.

        Raises:
            BadUsage: the URL is malformed.
            NoResponse: no server responds, or not in time.
            RequestRejected: the API rejects the request.
            OperationFailed: the server is not duetime's API.
        """
        received = self._exchange(method, path, query, body, etag)
        if received.status == _NO_CONTENT and method != "GET":
            return Answer(_NO_CONTENT, {}, None)
        return Answer(received.status, self._read(received), received.etag)

    def call(self, operation: str, given: Json | None = None, *, etag: str | None = None) -> Answer:
        """Make the call of an operation of the API: its path, query and body have the values that it takes.

        Raises:
            OperationFailed: as `answer`.
        """
        known = operations()[operation]
        values = {name: value for name, value in (given or {}).items() if value is not None}
        query = {name: _parameter(values[name]) for name in known.parameters if name in values}
        body = {name: values[name] for name in values if name in known.fields} if known.fields else None
        path = (segment.format_map(values) for segment in known.path.split("/"))
        return self.answer(known.method, *path, query=query, body=body, etag=etag)

    def pages(self, operation: str, given: Json) -> Iterator[dict[str, Any]]:
        """Yield the answers of an operation that continues at a cursor: pages, or the steps of a change."""
        while True:
            page = self.call(operation, given).body
            yield page
            if page["next_cursor"] is None:
                return
            until = page.get("created_until") or given.get("created_until")
            given = {**given, "cursor": page["next_cursor"], "created_until": until}

    def _exchange(
        self,
        method: str,
        path: tuple[str, ...],
        query: Query | None,
        body: Mapping[str, Any] | None,
        etag: str | None = None,
    ) -> Received:
        from duetime.cli.exchange import address, exchange  # noqa: PLC0415 - `duetime --help` needs no HTTP

        if not _URL.fullmatch(self.url):
            raise BadUsage(
                f"{self.url!r} is not the URL of a scheduler; use one such as http://127.0.0.1:8080"
            )
        url = address(self.url.rstrip("/").removesuffix(self.prefix) + self.prefix, path, query or {})
        sent = None if body is None else json.dumps(body).encode()
        headers = self._headers(method, etag)
        if self.signs:
            headers = self._signed(method, url, headers, sent)
        return exchange(method, url, headers, sent, base=self.url, timeout=self.timeout)

    def _signed(self, method: str, url: str, headers: dict[str, str], sent: bytes | None) -> dict[str, str]:
        from duetime.aws.signing import signed  # noqa: PLC0415 - a token needs no botocore

        return signed(method, url, headers, sent, region=self.region)

    def _headers(self, method: str, etag: str | None) -> dict[str, str]:
        headers = {
            "Accept": "application/json",
            "User-Agent": "duetime",
            "Content-Type": None if method == "GET" else "application/json",
            "If-Match": etag,
            "Authorization": self.token,
            "X-Duetime-Tenant": self.tenant,
            "X-Duetime-User": self.user,
        }
        return {name: value for name, value in headers.items() if value is not None}

    def _read(self, received: Received) -> dict[str, Any]:
        status = received.status
        try:
            content = json.loads(received.body)
        except ValueError:
            content = None
        answer = content if isinstance(content, dict) else {}
        if status < _ERROR and answer.keys() & _OURS:
            return answer
        if status >= _ERROR and {"title", "detail"} <= answer.keys():
            raise RequestRejected(status, str(answer["title"]), str(answer["detail"]), self._fix(status))
        message = answer.get("message")  # of API Gateway itself
        raise strange_answer(self.url, status, message)

    def _fix(self, status: int) -> str:
        """Return the remedy for rejections of API Gateway, whose messages name none."""
        if status == _TOO_MANY:
            return "wait a second, and repeat it"
        if status != _UNAUTHENTICATED:
            return ""
        if self.signs:
            return "sign in to AWS again, or check --region; people need a token instead: DUETIME_TOKEN"
        return "sign in again, and set the new ID token: DUETIME_TOKEN or --token; services need --sign"


def _parameter(value: object) -> Any:
    return str(value).lower() if isinstance(value, bool) else value


class _Profile(NamedTuple):
    """One deployment: ``[profiles.NAME]`` of the file. None where a key is missing."""

    url: str | None = None
    sign: bool | None = None
    region: str | None = None
    tenant: str | None = None
    user: str | None = None
    prefix: str | None = None


def client_of(arguments: argparse.Namespace) -> Client:
    """Return the client that the arguments choose, then a profile, then the environment.

    A profile names one deployment in a file without secrets.

    Raises:
        BadUsage: the profile cannot be read; both a token and a signature are requested; a secret
            would be sent unencrypted.
    """
    from duetime.cli.exchange import TIMEOUT, is_loopback  # noqa: PLC0415 - as above

    environment = CommandLine.from_env()
    name = arguments.profile or (environment.profile if arguments.url is None else None)
    profile = _profile(name, environment.config) if name else _Profile()
    url = _first(arguments.url, profile.url, environment.url, LOCAL)
    signs = _signs(arguments, profile, environment, url)
    token = None if signs else arguments.token or environment.token
    if (signs or token) and not url.startswith("https://") and not is_loopback(url):
        raise BadUsage(f"{url!r} is not encrypted: tokens and signatures are sent to https:// only")
    return Client(
        url,
        arguments.tenant or profile.tenant,
        arguments.user or profile.user,
        token=token,
        signs=signs,
        region=arguments.region or profile.region,
        prefix=_first(profile.prefix, environment.api_prefix, PREFIX),
        timeout=arguments.timeout or _timeout(environment.timeout) or TIMEOUT,
    )


def _timeout(written: str | None) -> float | None:
    try:
        return positive_seconds(written) if written else None
    except ValueError as error:
        raise BadUsage(f"DUETIME_TIMEOUT: {error}") from None


def _first(*values: str | None) -> str:
    return next(value for value in values if value is not None)


def _signs(arguments: argparse.Namespace, profile: _Profile, environment: CommandLine, url: str) -> bool:
    """Return whether requests are signed; by default at API Gateway without a token."""
    if arguments.sign and arguments.token:
        raise BadUsage("use --token or --sign, not both")
    if arguments.sign or arguments.token:
        return bool(arguments.sign)
    if profile.sign is not None:
        return profile.sign
    return environment.signs or (environment.token is None and _GATEWAY.match(url) is not None)


def _profile(name: str, file: str) -> _Profile:
    profiles = _profiles(Path(file).expanduser())
    if name not in profiles:
        known = ", ".join(sorted(profiles)) or "none"
        raise BadUsage(f"{file} has no profile {name!r}; it has: {known}")
    profile = profiles[name]
    _check_keys(f"the profile {name!r} in {file}", profile, _Profile._fields)
    if not isinstance(profile, dict) or not all(map(_is_right, profile, profile.values())):
        raise BadUsage(
            f"the profile {name!r} in {file} may have {', '.join(_Profile._fields)}:"
            " sign is true or false, the others text"
        )
    if "url" not in profile:
        raise BadUsage(f'the profile {name!r} in {file} needs a url: url = "https://…"')
    return _Profile(**profile)


def _profiles(file: Path) -> dict[str, Any]:
    import tomllib  # noqa: PLC0415 - without a profile it is not needed

    try:
        content = tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise BadUsage(f"the profiles are in {file}, which cannot be read: {error.strerror}") from None
    except ValueError as error:
        raise BadUsage(f"{file} is not TOML: {error}") from None
    _check_keys(str(file), content, ["profiles"])
    return profiles if isinstance(profiles := content.get("profiles"), dict) else {}


def _check_keys(owner: str, written: object, allowed: Sequence[str]) -> None:
    if unknown := sorted(written.keys() - set(allowed)) if isinstance(written, dict) else []:
        meant = nearest(unknown[0], allowed)
        raise BadUsage(
            f"{owner} has no key {unknown[0]!r};"
            + (f" did you mean {meant!r}?" if meant else f" it may have {', '.join(allowed)}")
        )


def _is_right(key: str, value: object) -> bool:
    return isinstance(value, bool if key == "sign" else str)
