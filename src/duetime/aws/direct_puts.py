"""Puts of rows without botocore's service layer, at a third of the CPU of ``client.put_item``.

The client makes the first put, which shows how it signs. Its signer signs the later ones, which are sent
once, over its connections. The events ``before-call``, ``before-send`` and ``after-call`` are emitted as the
client does, so that hooks and emulators see these calls.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from threading import Lock
from types import FunctionType
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from botocore.awsrequest import AWSRequest
from botocore.client import BaseClient
from botocore.exceptions import BotoCoreError

from duetime.aws.keys import Item

if TYPE_CHECKING:
    from botocore.signers import RequestSigner

_EVENT = "dynamodb.PutItem"
_SIGNATURE = "v4"
_SIGNING_OPTIONS = {"region", "signing_name"}
"""What an endpoint may set about the signature, beyond which only the client signs."""
_HEADERS = ("X-Amz-Target", "Content-Type", "User-Agent")
_OK = 200

_encode = json.JSONEncoder(separators=(",", ":")).encode


@dataclass(frozen=True, slots=True)
class _Example:
    """How the client sends and signs a put."""

    url: str
    headers: dict[str, str]
    signer: RequestSigner
    signing_name: str
    region: str


class DirectPuts:
    """The direct puts of one boto3 client of DynamoDB; `direct_puts` returns them."""

    def __init__(self, client: Any) -> None:
        self._events, self._model = client.meta.events, client.meta.service_model.operation_model("PutItem")
        self._http = client._endpoint.http_session  # noqa: SLF001 - has the client's time-outs, proxies and pool
        self._example: _Example | None = None
        self._events.register(f"before-sign.{_EVENT}", self._learn)

    def put(self, table: str, item: Item, condition: str) -> bool:
        """Put an item by one request, and return whether DynamoDB has written it.

        If not, the caller must put it with the client, which knows why, and repeats the request. This one may
        still arrive: use it only where a repeat is safe.
        """
        if self._example is None or _is_traced():
            return False
        body = _encode({"TableName": table, "Item": item, "ConditionExpression": condition}).encode()
        try:
            return self._call(self._example, body)
        except BotoCoreError:
            return False

    def _call(self, example: _Example, body: bytes) -> bool:
        context: dict[str, Any] = {}
        params: dict[str, Any] = {
            "url": example.url,
            "url_path": "/",
            "query_string": "",
            "method": "POST",
            "headers": {**example.headers},
            "body": body,
            "context": context,
        }
        common = {"model": self._model, "context": context}
        _, answer = self._events.emit_until_response(
            f"before-call.{_EVENT}", params=params, request_signer=example.signer, **common
        )
        http = self._send(example, params) if answer is None else answer[0]
        if http.status_code != _OK:
            return False
        metadata = {"HTTPStatusCode": _OK, "HTTPHeaders": {}, "RetryAttempts": 0}
        parsed = {"ResponseMetadata": metadata} if answer is None else answer[1]
        self._events.emit(f"after-call.{_EVENT}", http_response=http, parsed=parsed, **common)
        return True

    def _send(self, example: _Example, params: dict[str, Any]) -> Any:
        request = AWSRequest(params["method"], params["url"], headers=params["headers"], data=params["body"])
        signature = example.signer.get_auth_instance(example.signing_name, example.region, _SIGNATURE)
        signature.add_auth(request)
        prepared = request.prepare()
        _, answer = self._events.emit_until_response(f"before-send.{_EVENT}", request=prepared)
        return self._http.send(prepared) if answer is None else answer

    def _learn(
        self,
        request: AWSRequest,
        signing_name: str,
        region_name: str,
        signature_version: str,
        request_signer: RequestSigner,
        **_: Any,
    ) -> None:
        """Note how the client signs a put; called by botocore."""
        options = request.context.get("signing", {})
        if signature_version != _SIGNATURE or not options.keys() <= _SIGNING_OPTIONS:
            self._example = None
            return
        self._example = _Example(
            str(request.url),
            {name: request.headers[name] for name in _HEADERS},
            request_signer,
            options.get("signing_name", signing_name),
            options.get("region", region_name),
        )


_PUTS: WeakKeyDictionary[Any, DirectPuts] = WeakKeyDictionary()
_LOCK = Lock()


def direct_puts(client: Any) -> DirectPuts:
    """Return the direct puts of a client; several callers share them."""
    with _LOCK:
        if client not in _PUTS:
            _PUTS[client] = DirectPuts(client)
        return _PUTS[client]


def _is_traced() -> bool:
    """Return whether a tracer has replaced botocore's function for calls. It must then see each call."""
    call = vars(BaseClient)["_make_api_call"]
    return type(call) is not FunctionType or call.__module__ != "botocore.client"
