"""Calls the admin API as one caller, and raises its rejections as failures of the command."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from duetime.api import PREFIX
from duetime.cli.failures import BadUsage, CommandFailed, RequestRejected, StrangeAnswer

if TYPE_CHECKING:  # `duetime --help` needs no HTTP
    from duetime.cli.exchange import Received

Query: TypeAlias = Mapping[str, str | list[str] | None]
"""Parameters of a request, without those that are None; a list is a repeated one."""

Json = Mapping[str, Any]
"""A JSON object."""

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
        """Make one call, and return the response's body; `path` is given in segments.

        Raises:
            CommandFailed: as `answer`.
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
            NoAnswer: no server responds.
            TimedOut, GatewayTimedOut: it does not respond in time.
            RequestRejected: the API rejects the request.
            StrangeAnswer: the server is not duetime's API.
        """
        received = self._exchange(method, path, query, body, etag)
        return Answer(received.status, self._read(received), received.etag)

    def send(
        self,
        method: str,
        *path: str,
        query: Query | None = None,
        body: Mapping[str, Any] | None = None,
    ) -> None:
        """Make one call whose response has no body.

        Raises:
            CommandFailed: as `ask`.
        """
        received = self._exchange(method, path, query, body)
        if received.status == _NO_CONTENT:
            return
        self._read(received)
        raise StrangeAnswer(self.url, received.status, None)

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
        from duetime.aws.signing import NotSigned, signed  # noqa: PLC0415 - a token needs no botocore

        try:
            return signed(method, url, headers, sent, region=self.region)
        except NotSigned as error:
            raise CommandFailed(str(error)) from None

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
        raise StrangeAnswer(self.url, status, message)

    def _fix(self, status: int) -> str:
        """Return the remedy for rejections of API Gateway, whose messages name none."""
        if status == _TOO_MANY:
            return "wait a second, and repeat it"
        if status != _UNAUTHENTICATED:
            return ""
        if self.signs:
            return "sign in to AWS again, or check --region; people need a token instead: DUETIME_TOKEN"
        return "sign in again, and set the new ID token: DUETIME_TOKEN or --token; services need --sign"
