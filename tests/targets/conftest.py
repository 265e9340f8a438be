import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest


class Receiver:
    """A receiver of webhooks on this machine, which answers as its test says."""

    def __init__(self):
        self.requests: list[tuple[str, dict[str, str], bytes]] = []
        self.answers: list[tuple[int, dict[str, str], bytes]] = []
        receiver = self

        class Handle(BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                receiver.requests.append((self.path, dict(self.headers), body))
                status, headers, answer = receiver.answers.pop(0) if receiver.answers else (200, {}, b"")
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(answer)

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handle)
        self.address = self.server.server_address
        self.url = f"http://127.0.0.1:{self.address[1]}"
        self._thread = threading.Thread(target=self.server.serve_forever, args=(0.01,))
        self._thread.start()

    def close(self):
        self.server.shutdown()
        self._thread.join()
        self.server.server_close()

    @property
    def bodies(self):
        return [json.loads(body) for _, _, body in self.requests]


@pytest.fixture
def receiver():
    made = Receiver()
    yield made
    made.close()
