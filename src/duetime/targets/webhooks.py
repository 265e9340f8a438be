"""Webhooks: signed requests, and what their responses mean for the action."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from http.client import HTTPException

from duetime.errors import truncate
from duetime.model.run import Run
from duetime.retry import LONGEST_BACKOFF, Fatal, Retry, RetryPolicy
from duetime.targets.addresses import AddressForbidden
from duetime.targets.grants import WebhookHost
from duetime.targets.http_post import HttpAnswer, HttpPost
from duetime.targets.payloads import Webhook

WEBHOOK_RETRY = RetryPolicy(10, backoff=(5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400))
"""The waits that Standard Webhooks recommends: three days in all."""

_SECRET = re.compile(r"(?:whsec_)?[A-Za-z0-9+/]{32,128}={0,2}")
_SHOWN = 200
_AGAIN = frozenset({HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.TOO_EARLY, HTTPStatus.TOO_MANY_REQUESTS})
_SUCCESS, _REDIRECT, _SERVER_ERROR = 2, 3, 5
_SHORTEST = timedelta(seconds=1)

ReadSecret = Callable[[str], str]
"""Returns a signing secret by its reference."""


class SendWebhook:
    """Sends webhooks to granted hosts."""

    def __init__(self, post: HttpPost, read_secret: ReadSecret) -> None:
        self._post, self._read_secret = post, read_secret

    def __call__(self, payload: Webhook, host: WebhookHost, run: Run) -> None:
        """Post a webhook.

        Raises:
            Retry: the receiver requests a later attempt, or fails.
            Fatal: the receiver rejects it for good, or its host is not public.
            OSError: the receiver did not respond.
        """
        body = json.dumps(payload.body, ensure_ascii=False, separators=(",", ":"))
        headers = {
            "Content-Type": "application/json",
            "User-Agent": "duetime",
            **self._signed(host, message_id(run), run.now(), body),
        }
        try:
            answer = self._post(payload.url, body.encode(), headers, host.address)
        except AddressForbidden as error:
            raise Fatal(str(error)) from None
        except HTTPException as error:
            raise Retry(
                reason=f"{host.shown} sent no HTTP response: {truncate(repr(error), _SHOWN)}"
            ) from error
        judge(answer, host.shown, run.now())

    def _signed(self, host: WebhookHost, number: str, now: datetime, body: str) -> dict[str, str]:
        at = now.astimezone(UTC)
        headers = {"webhook-id": number, "webhook-timestamp": str(int(at.timestamp()))}
        if not host.secret:
            return headers
        try:
            from standardwebhooks.webhooks import Webhook as Signer  # noqa: PLC0415 - an optional extra
        except ModuleNotFoundError:
            raise Fatal("a signed webhook needs standardwebhooks: pip install 'duetime[webhooks]'") from None
        secrets = self._read_secret(host.secret).split()
        if not secrets or not all(map(_SECRET.fullmatch, secrets)):  # two during a rotation
            raise Fatal(
                f"the secret of {host.shown} cannot sign; allowed is whsec_ and at least 32 of base64"
            )
        signatures = [Signer(secret).sign(number, at, body) for secret in secrets]
        return {**headers, "webhook-signature": " ".join(signatures)}


def message_id(run: Run) -> str:
    """Return the id by which a receiver recognises repeats; Standard Webhooks allows no full stop in it."""
    return run.idempotency_key.replace(".", "_")


def judge(answer: HttpAnswer, host: str, now: datetime) -> None:
    """Return if the receiver took the webhook.

    Raises:
        Retry: 408, 425, 429 or 5xx: again after ``Retry-After``, or after the policy's wait.
        Fatal: a redirect or another status: a repeat does not help.
    """
    kind = answer.status // 100
    if kind == _SUCCESS:
        return
    response = f"{host} responded {answer.status}{_excerpt(answer.body)}"
    if kind == _SERVER_ERROR or answer.status in _AGAIN:
        raise Retry(_wait_of(answer.retry_after, now), response)
    if kind == _REDIRECT:
        raise Fatal(f"{response}; redirects are not followed: schedule the new URL")
    if answer.status == HTTPStatus.GONE:
        raise Fatal(f"{response}: the receiver wants no more webhooks at this URL")
    raise Fatal(response)


def _wait_of(retry_after: str | None, now: datetime) -> timedelta | None:
    """Return the wait that a response requests, at most 90 days; None without one that can be read."""
    if retry_after is None:
        return None
    given = retry_after.strip()
    if given.isascii() and given.isdigit():
        wait = timedelta(seconds=min(int(given[:10]), LONGEST_BACKOFF.total_seconds()))
    else:
        try:
            at = parsedate_to_datetime(given)
        except ValueError:
            return None
        wait = (at if at.tzinfo else at.replace(tzinfo=UTC)) - now
    return min(max(wait, _SHORTEST), LONGEST_BACKOFF)


def _excerpt(body: bytes) -> str:
    text = "".join(filter(str.isprintable, body[: 4 * _SHOWN].decode(errors="replace")))
    return f": {truncate(text, _SHOWN)}" if text.strip() else ""
