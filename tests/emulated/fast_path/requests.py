"""Connects the fast path to boto3's clients of this process."""

from __future__ import annotations

import json
from collections.abc import Hashable, Iterator, Mapping
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

from botocore.handlers import BUILTIN_HANDLERS

from tests.emulated.addresses import REGION
from tests.emulated.call_lock import AwsCall, CallLock
from tests.emulated.expressions.values import NotCovered
from tests.emulated.fast_path import dynamodb, sqs
from tests.emulated.fast_path.values import unique

_FORM = "duetime_fast_path_form"
_HELD_NOT = "ConditionalCheckFailedException"
_SERVICES = {
    (dynamodb.TARGET, f"https://dynamodb.{REGION}.amazonaws.com/"): dynamodb,
    (sqs.TARGET, f"https://sqs.{REGION}.amazonaws.com/"): sqs,
}


class FastPath:
    """Answers requests before botocore signs and sends them.

    Args:
        lock: guards moto's state.
    """

    def __init__(self, lock: CallLock) -> None:
        self._lock = lock
        self._accepted: set[Hashable] = set()

    def before_call(self, params: Mapping[str, Any], context: dict[str, Any], **rest: Any) -> Any:
        """Return botocore's pair of an HTTP response and its content, or None if moto must answer."""
        target, _, operation = params["headers"].get("X-Amz-Target", "").partition(".")
        service = _SERVICES.get((target, params["url"]))
        if service is None or not _has_own_credentials(rest):
            return None
        raw = params["body"]
        try:
            body = json.loads(raw)
            form = service.form_of(operation, body, len(raw))
            if form not in self._accepted:
                context[_FORM] = form
                return None
            call = AwsCall(params["headers"]["X-Amz-Target"], params["method"], "/", raw)
            content = self._lock.call(call, lambda: service.answer(operation, body, len(raw)))
        except (NotCovered, KeyError, TypeError, ValueError):
            return None
        return _OK, content | {"ResponseMetadata": _metadata()}

    def after_call(self, parsed: Mapping[str, Any], context: Mapping[str, Any], **_: Any) -> None:
        """Note the form of a request that moto accepted."""
        form = context.get(_FORM)
        if form is not None and parsed.get("Error", {}).get("Code") in {None, _HELD_NOT}:
            self._accepted.add(form)


_OK = SimpleNamespace(status_code=200)


def _has_own_credentials(rest: Mapping[str, Any]) -> bool:
    """Return whether the request is of the local cloud's account; an assumed role has a session token."""
    credentials = getattr(rest.get("request_signer"), "_credentials", None)
    return credentials is not None and credentials.token is None


def _metadata() -> dict[str, Any]:
    return {"RequestId": unique(), "HTTPStatusCode": 200, "HTTPHeaders": {}, "RetryAttempts": 0}


class _Active:
    """The fast path of the running local cloud, if there is one."""

    path: FastPath | None = None

    def before_call(self, **request: Any) -> Any:
        return None if self.path is None else self.path.before_call(**request)

    def after_call(self, **response: Any) -> None:
        if self.path is not None:
            self.path.after_call(**response)


_ACTIVE = _Active()
# As moto does: botocore registers these with each session that is created from now on.
BUILTIN_HANDLERS.append(("before-call", _ACTIVE.before_call))
BUILTIN_HANDLERS.append(("after-call", _ACTIVE.after_call))


@contextmanager
def activate(path: FastPath | None) -> Iterator[None]:
    """Use a fast path within the block, or none: then moto answers everything."""
    before, _ACTIVE.path = _ACTIVE.path, path
    try:
        yield
    finally:
        _ACTIVE.path = before
