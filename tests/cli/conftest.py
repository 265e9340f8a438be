"""The command line against a real port: a tiny server that hands requests to the API over a memory cloud."""

import json
import threading
from datetime import timedelta
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib import import_module
from urllib.parse import parse_qs, urlsplit

import pytest

from duetime import App, Continue, Fatal, Payload, Rate, RetryPolicy, Run
from duetime.api.app import make_api
from duetime.api.context import Access, ApiContext, Health
from duetime.cli import main
from duetime.embedded.embedded import Engine
from duetime.jobs.trusted_reading import KnownPauses
from duetime.memory.keyed_items import MemoryItems
from duetime.ports.notifications import Inbox, InboxPorts, PreferencesStore
from duetime.settings import Settings
from tests.backends import MemoryAuditTrail, MemoryGrants


class Remark(Payload):
    text: str = ""


class Doomed(Payload):
    pass


DOOMED_SUCCEEDS = threading.Event()
"""While it is set, `Doomed` succeeds."""


def shop_app() -> App:
    app = App()

    @app.action(rate=Rate(1_000, "second"))
    def remark(payload: Remark, run: Run) -> None:
        if payload.text == "in parts" and run.last_checkpoint is None:
            run.checkpoint({"done": 1})
            raise Continue

    @app.action
    def doomed(payload: Doomed, run: Run) -> None:
        if not DOOMED_SUCCEEDS.is_set():
            raise Fatal("the \x1b[31mcard\x1b[0m\nwas stolen")

    @app.job("daily 02:30 tz=Europe/Paris", name="billing-nightly", title="Nightly bills")
    def bill(run: Run) -> None:
        pass

    @app.job(name="billing-rebuild", description="rebuilds all bills", retry=RetryPolicy(1))
    def rebuild(payload: Remark, run: Run) -> None:
        raise Fatal("no bank")

    return app


class Server(ThreadingHTTPServer):
    """Responds with `answer(method, path, query, headers, body)`.

    It returns a status, a content type, a text, and perhaps an ETag.
    """

    daemon_threads = True

    def __init__(self, answer):
        super().__init__(("127.0.0.1", 0), Handler)
        self.answer = answer
        self.url = f"http://127.0.0.1:{self.server_port}"


class Handler(BaseHTTPRequestHandler):
    def respond(self):
        address = urlsplit(self.path)
        body = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode() or None
        query = {name: values[-1] for name, values in parse_qs(address.query, keep_blank_values=True).items()}
        status, kind, text, *etags = self.server.answer(self.command, address.path, query, self.headers, body)
        self.send_response(status)
        self.send_header("Content-Type", kind)
        for etag in etags:
            self.send_header("ETag", etag)
        self.end_headers()
        self.wfile.write(text.encode())

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = respond  # noqa: N815 - the names that the library looks for

    def log_message(self, *_arguments):
        pass


@pytest.fixture(autouse=True)
def _wide(wide_terminal):
    """Most tests read rows of tables; `test_widths` has narrow ones."""


@pytest.fixture(scope="session", autouse=True)
def _one_parser():
    """Build the parser of the command line once: most commands take less time than that."""
    module = import_module("duetime.cli.main")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "parser", cache(module.parser))
        yield


@pytest.fixture(scope="session", autouse=True)
def _short_pauses():
    """Look again after a tenth of a second: what these tests wait for takes no longer."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(import_module("duetime.cli.output"), "PAUSE", timedelta(seconds=0.1))
        yield


@pytest.fixture
def serve():
    """Return a function that starts a server; the servers stop when the test ends."""
    servers = []

    def start(answer):
        server = Server(answer)
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        servers.append(server)
        return server.url

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


def gateway(app):
    """Play API Gateway and its authorizer, as the local cloud does."""

    def answer(method, path, query, headers, body):
        claims = {
            "custom:tenant_id": headers.get("X-Duetime-Tenant", "acme"),
            "sub": headers.get("X-Duetime-User", "developer"),
            "cognito:groups": headers.get("X-Duetime-Groups", "admins"),
        }
        event = {
            "httpMethod": method,
            "path": path,
            "headers": dict(headers),
            "queryStringParameters": query,
            "multiValueQueryStringParameters": {name: [value] for name, value in query.items()},
            "requestContext": {"path": path, "authorizer": {"claims": claims}},
            "body": body,
            "isBase64Encoded": False,
        }
        response = app(event, None)
        headers = response["multiValueHeaders"]
        kind = headers.get("Content-Type", [""])[0]
        return response["statusCode"], kind, response["body"] or "", *headers.get("ETag", [])

    return answer


@pytest.fixture
def repair():
    """Return a function after whose call `Doomed` succeeds."""
    yield DOOMED_SUCCEEDS.set
    DOOMED_SUCCEEDS.clear()


@pytest.fixture
def app():
    """The app of the server; a test may have another."""
    return shop_app()


@pytest.fixture
def engine(app):
    """An engine that really runs due actions, in this process."""
    engine = Engine(app, Settings())
    engine.start()
    yield engine
    engine.stop()


@pytest.fixture
def inbox_ports():
    """The inbox and the preferences of notifications."""
    return InboxPorts(PreferencesStore(MemoryItems()), Inbox(MemoryItems()))


@pytest.fixture
def trail():
    """The audit trail of the API."""
    return MemoryAuditTrail()


@pytest.fixture
def bookmarks(engine):
    """The bookmarks that the API reads."""
    return engine.cloud.backends.bookmarks


@pytest.fixture
def url(app, engine, serve, inbox_ports, trail):
    context = ApiContext(
        engine.cloud.store,
        engine.cloud.job_ports,
        app,
        engine.clock,
        engine.cloud.settings,
        engine.cloud.undelivered_ports,
        inbox_ports,
        pauses=KnownPauses(engine.cloud.pauses, engine.clock),
        limits=engine.cloud.limits,
    )
    return serve(
        gateway(
            make_api(
                context,
                Health(engine.cloud.backends.bookmarks),
                Access(MemoryGrants(), trail),
            )
        )
    )


class Shell:
    """Runs commands and captures their output."""

    def __init__(self, url, capsys):
        self.url, self._capsys = url, capsys

    def __call__(self, *words, **options):
        """Run a command, and return its status, standard output and standard error."""
        return self.bare(*words, "--url", options.get("url", self.url))

    def bare(self, *words):
        """Do the same without the option ``--url``, unless `words` has it."""
        try:
            status = main([*words])
        except SystemExit as ended:
            status = ended.code
        return status, *self._capsys.readouterr()

    def json(self, *words):
        status, printed, errors = self(*words, "--json")
        assert (status, errors) == (0, "")
        return json.loads(printed)


@pytest.fixture
def duetime(url, capsys):
    return Shell(url, capsys)
