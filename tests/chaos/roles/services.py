"""SQS, EventBridge Scheduler and EventBridge, as far as the steps need them: a small server in memory.

moto's queues take a hundred times longer for a call, which delays every run. The port is written to a file.
"""

import json
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit
from uuid import uuid4

from duetime.settings import Settings
from tests.chaos.process import Words
from tests.chaos.roles.service import CLOCK, replace_file

Body = dict[str, Any]
MISSING, EXISTS = (404, "ResourceNotFoundException"), (409, "ConflictException")


class Refused(Exception):
    """An error of the service: its HTTP status and its code."""


class Queues:
    """SQS: messages with delays, hidden from receive to delete for the queue's visibility."""

    def __init__(self) -> None:
        self._hidden: dict[str, float] = {}
        self._messages: dict[str, dict[str, Body]] = {}

    def create_queue(self, request: Body) -> Body:
        """Add a queue. Its URL is only a name to us."""
        url = f"http://127.0.0.1/123456789012/{request['QueueName']}"
        self._hidden[url], self._messages[url] = float(request["Attributes"]["VisibilityTimeout"]), {}
        return {"QueueUrl": url}

    def send_message_batch(self, request: Body) -> Body:
        """Add messages, each visible after its delay."""
        for entry in request["Entries"]:
            self._messages[request["QueueUrl"]][str(uuid4())] = {
                "body": entry["MessageBody"],
                "sent": _milliseconds(),
                "visible_at": CLOCK.elapsed() + entry.get("DelaySeconds", 0),
            }
        sent = [
            {"Id": entry["Id"], "MessageId": "-", "MD5OfMessageBody": "-"} for entry in request["Entries"]
        ]
        return {"Successful": sent, "Failed": []}

    def receive_message(self, request: Body) -> Body:
        """Return visible messages, and hide them."""
        url, now, most = request["QueueUrl"], CLOCK.elapsed(), request.get("MaxNumberOfMessages", 1)
        visible = [item for item in self._messages[url].items() if item[1]["visible_at"] <= now][:most]
        for _, message in visible:
            message["visible_at"] = now + self._hidden[url]
            message.setdefault("first", _milliseconds())
        return {"Messages": [_received(name, message) for name, message in visible]} if visible else {}

    def delete_message(self, request: Body) -> Body:
        """Remove a message; a receipt is its name."""
        self._messages[request["QueueUrl"]].pop(request["ReceiptHandle"], None)
        return {}

    def change_message_visibility(self, request: Body) -> Body:
        """Hide a message for longer."""
        message = self._messages[request["QueueUrl"]].get(request["ReceiptHandle"], {})
        message["visible_at"] = CLOCK.elapsed() + request["VisibilityTimeout"]
        return {}


def _received(name: str, message: Mapping[str, Any]) -> Body:
    times = {"SentTimestamp": message["sent"], "ApproximateFirstReceiveTimestamp": message["first"]}
    return {"MessageId": name, "ReceiptHandle": name, "Body": message["body"], "Attributes": times}


class Schedules:
    """EventBridge Scheduler: schedules by group and name. `timers` fires them."""

    def __init__(self) -> None:
        self._schedules: dict[tuple[str, str], Body] = {}

    def list(self, group: str | None) -> Body:
        """Return all schedules, or those of a group."""
        found = [row for row in self._schedules.values() if group in {None, row["GroupName"]}]
        return {"Schedules": found}

    def create(self, name: str, request: Body) -> Body:
        """Add a schedule."""
        if (request["GroupName"], name) in self._schedules:
            raise Refused(*EXISTS)
        return self._put(name, request)

    def update(self, name: str, request: Body) -> Body:
        """Replace a schedule."""
        self.get(name, request["GroupName"])
        return self._put(name, request)

    def _put(self, name: str, request: Body) -> Body:
        arn, now = f"arn:aws:scheduler:eu-west-1:123456789012:schedule/{name}", CLOCK.now().timestamp()
        about = {"Name": name, "Arn": arn, "CreationDate": now, "LastModificationDate": now}
        self._schedules[request["GroupName"], name] = request | about
        return {"ScheduleArn": arn}

    def get(self, name: str, group: str) -> Body:
        """Return a schedule."""
        if (group, name) not in self._schedules:
            raise Refused(*MISSING)
        return self._schedules[group, name]

    def delete(self, name: str, group: str) -> Body:
        """Remove a schedule."""
        self.get(name, group)
        del self._schedules[group, name]
        return {}


def _milliseconds() -> str:
    return str(int(CLOCK.now().timestamp() * 1000))


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    queues, schedules, lock = Queues(), Schedules(), threading.Lock()

    def _serve(self) -> None:
        sent = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        try:
            with self.lock:
                status, code, body = 200, "", self._call(json.loads(sent or b"{}"))
        except Refused as refused:
            (status, code), body = refused.args, {"message": "refused"}
        content = json.dumps(body).encode()
        self.send_response_only(status)
        self.send_header("x-amzn-ErrorType", code)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    do_GET = do_POST = do_PUT = do_DELETE = _serve  # noqa: N815 - the base class names them so

    def _call(self, request: Body) -> Body:
        service, _, operation = self.headers.get("X-Amz-Target", "").partition(".")
        if service == "AmazonSQS":
            call: Callable[[Body], Body] = getattr(self.queues, _snake_case(operation))
            return call(request)
        if operation == "ListRuleNamesByTarget":
            return {"RuleNames": []}
        url = urlsplit(self.path)
        query = {name: values[0] for name, values in parse_qs(url.query).items()}
        return self._schedule(unquote(url.path).strip("/").split("/"), query, request)

    def _schedule(self, path: list[str], query: Mapping[str, str], request: Body) -> Body:
        match (self.command, path):
            case ("POST", ["schedule-groups", name]):
                return {"ScheduleGroupArn": name}
            case ("GET", ["schedules"]):
                return self.schedules.list(query.get("ScheduleGroup"))
            case ("GET", ["schedules", name]):
                return self.schedules.get(name, query["groupName"])
            case ("POST", ["schedules", name]):
                return self.schedules.create(name, request)
            case ("PUT", ["schedules", name]):
                return self.schedules.update(name, request)
            case ("DELETE", ["schedules", name]):
                return self.schedules.delete(name, query["groupName"])
        raise Refused(400, f"Unknown {self.command} {path}")

    def handle(self) -> None:
        """Serve a connection until its process closes it, or is killed."""
        with suppress(OSError, ValueError):
            super().handle()

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class names it so
        """Write no log."""


def _snake_case(name: str) -> str:
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name).lstrip("_")


def serve(_settings: Settings, words: Words) -> None:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    replace_file(Path(words.directory, "services.port"), str(server.server_port))
    server.serve_forever()
