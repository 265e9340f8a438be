"""A user pool for the tests.

Its sign-in pages, and the people's API behind its tokens, in front of a local cloud.

It holds the page to what Cognito holds it to: a code once, with its proof, for the address of the request; a
token as it is.
"""

from __future__ import annotations

import base64
import hashlib
import http.client
import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from secrets import token_urlsafe
from urllib.parse import urlencode, urlsplit

from werkzeug.serving import make_server
from werkzeug.wrappers import Request, Response

from duetime.console import ConsoleConfig, SignIn, Site

CLIENT, ISSUER = "console-client", "https://cognito-idp.eu-west-1.amazonaws.com/eu-west-1_test"


@dataclass
class Pool:
    """Signs everybody in as the same operator, and counts what it was asked."""

    lifetime: int = 3600
    url: str = ""
    codes: dict[str, dict[str, str]] = field(default_factory=dict)
    tokens: set[str] = field(default_factory=set)
    refreshes: set[str] = field(default_factory=set)
    requested: list[str] = field(default_factory=list)
    meddles: bool = False
    """Whether it answers with another state than it was given."""
    denies: str = ""
    """Why it lets nobody in, if it does not."""

    @Request.application
    def serve(self, request: Request) -> Response:
        """One request of the sign-in pages."""
        if request.path == "/favicon.ico":
            return Response("")
        self.requested.append(request.path)
        if request.path == "/oauth2/authorize":
            return self._authorize(dict(request.args))
        if request.path == "/oauth2/token":
            return self._token(dict(request.form), request)
        if request.path == "/logout":
            return Response("signed out")
        return Response("", 404)

    def _authorize(self, request_fields: dict[str, str]) -> Response:
        assert request_fields["response_type"] == "code"
        assert request_fields["client_id"] == CLIENT
        assert request_fields["code_challenge_method"] == "S256"
        if self.denies:
            denied = {
                "error": "access_denied",
                "error_description": self.denies,
                "state": request_fields["state"],
            }
            back = f"{request_fields['redirect_uri']}?{urlencode(denied)}"
            return Response("", 302, headers={"Location": back})
        code = token_urlsafe()
        self.codes[code] = request_fields
        state = "another" if self.meddles else request_fields["state"]
        back = f"{request_fields['redirect_uri']}?{urlencode({'code': code, 'state': state})}"
        return Response("", 302, headers={"Location": back})

    def _token(self, form: dict[str, str], request: Request) -> Response:
        if form["grant_type"] == "authorization_code":
            request_fields = self.codes.pop(form["code"])
            assert form["redirect_uri"] == request_fields["redirect_uri"]
            digest = hashlib.sha256(form["code_verifier"].encode()).digest()
            assert base64.urlsafe_b64encode(digest).decode().rstrip("=") == request_fields["code_challenge"]
        elif form["refresh_token"] not in self.refreshes:
            return self._answer({"error": "invalid_grant"}, 400, request)
        return self._answer(self._made(), 200, request)

    def _made(self) -> dict[str, object]:
        now = int(time.time())  # noqa: TID251 - the browser's clock judges it
        claims = {"iss": ISSUER, "aud": CLIENT, "sub": "ann", "iat": now, "exp": now + self.lifetime}
        parts = [{"alg": "RS256", "typ": "JWT"}, claims, {"nonce": token_urlsafe()}]
        token = ".".join(
            base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=") for part in parts
        )
        refresh = token_urlsafe()
        self.tokens.add(token)
        self.refreshes.add(refresh)
        return {
            "id_token": token,
            "access_token": token_urlsafe(),
            "refresh_token": refresh,
            "token_type": "Bearer",
            "expires_in": self.lifetime,
        }

    def _answer(self, body: dict[str, object], status: int, request: Request) -> Response:
        headers = {"Access-Control-Allow-Origin": request.headers.get("Origin", "")}
        return Response(json.dumps(body), status, headers=headers, content_type="application/json")


class People:
    """The people's API and the console beside it.

    Requests with a token of the pool are passed to the cloud.
    """

    def __init__(self, pool: Pool, cloud_url: str) -> None:
        self._pool, self._cloud = pool, urlsplit(cloud_url).netloc
        self._site = Site(ConsoleConfig("api/v1", SignIn(pool.url, ISSUER, CLIENT)))
        self.unsigned: list[str] = []

    @Request.application
    def serve(self, request: Request) -> Response:
        """One request."""
        if found := self._site.answer(request.path):
            return Response(found.body, headers=dict(found.headers))
        if request.headers.get("Authorization") not in self._pool.tokens:
            self.unsigned.append(request.path)
            return Response('{"message": "Unauthorized"}', 401, content_type="application/json")
        return self._passed_on(request)

    def _passed_on(self, request: Request) -> Response:
        connection = http.client.HTTPConnection(self._cloud)
        headers = {
            "Content-Type": request.headers.get("Content-Type", "application/json"),
            "X-Duetime-User": "ann",
            "X-Duetime-Tenant": "globex",
            "X-Duetime-Groups": "members",
        }
        connection.request(request.method, request.full_path.rstrip("?"), request.get_data(), headers)
        answer = connection.getresponse()
        body = answer.read()
        connection.close()
        return Response(body, answer.status, content_type=answer.headers["Content-Type"])


@contextmanager
def served(application: object) -> Iterator[str]:
    """A WSGI application on a free port of this machine; its URL."""
    server = make_server("127.0.0.1", 0, application, threaded=True)
    thread = threading.Thread(target=server.serve_forever, args=(0.1,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
