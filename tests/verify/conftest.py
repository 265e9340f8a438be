"""A simulated deployment with its API, in simulated time."""

import json

import pytest

from duetime import App, Payload
from duetime.api.app import make_api
from duetime.api.context import Access, ApiContext, Health
from duetime.errors import DuetimeError
from duetime.memory.keyed_items import MemoryItems
from duetime.memory.notes import MemoryBookmarks
from duetime.ports.notifications import Inbox, InboxPorts, PreferencesStore
from duetime.settings import Settings
from duetime.testing import Faults, SimulatedCloud
from duetime.verify.verify import Options, Verify
from tests.backends import MemoryAuditTrail, MemoryGrants


class Ping(Payload):
    pass


def app():
    made = App()

    @made.action
    def ping(payload: Ping) -> None: ...

    return made


class Rejected(DuetimeError):
    code = "rejected"


class Deployment:
    """A cloud in simulated time, its API for one caller, and the clock of the caller's machine.

    `distort` changes the responses: it receives the path and the response.
    """

    def __init__(self, *, faults=None, groups="operators admins", **settings):
        self.settings = Settings(**settings)
        self.cloud = SimulatedCloud(app(), settings=self.settings, faults=faults or Faults.only(1))
        self.groups, self.distort = groups, lambda _path, response: response
        memory, clock = self.cloud.memory, self.cloud.clock
        self.inbox = InboxPorts(PreferencesStore(MemoryItems()), Inbox(MemoryItems()))
        ports = (memory.job_ports, app(), clock, self.settings, memory.undelivered_ports, self.inbox)
        context = ApiContext(memory.store, *ports)
        access = Access(MemoryGrants(), MemoryAuditTrail())
        self._api = make_api(context, Health(MemoryBookmarks()), access)

    def now(self):
        return self.cloud.now

    def wait_until(self, instant):
        self.cloud.advance(instant - self.cloud.now)

    def ask(self, method, *path, query=None, body=None):
        given = {name: value for name, value in (query or {}).items() if value is not None}
        claims = {"custom:tenant_id": "acme", "sub": "ada", "cognito:groups": self.groups}
        where = f"/api/v1/{'/'.join(path)}"
        response = self._api(
            {
                "httpMethod": method,
                "path": where,
                "headers": {"Content-Type": "application/json"},
                "queryStringParameters": given,
                "multiValueQueryStringParameters": {name: [value] for name, value in given.items()},
                "requestContext": {"path": where, "authorizer": {"claims": claims}},
                "body": None if body is None else json.dumps(body),
                "isBase64Encoded": False,
            },
            None,
        )
        content = json.loads(response["body"] or "{}")
        if response["statusCode"] >= 400:
            raise Rejected(content["detail"])
        return self.distort(path, content)

    def verify(self, **options):
        return Verify(self, self, Options(**options))()

    def failed(self, **options):
        """The checks that failed, with what happened."""
        results = self.verify(**options).results
        return {result.name: result.actual for result in results if result.state == "failed"}


@pytest.fixture
def deploy():
    deployments = []

    def start(**options):
        deployments.append(Deployment(**options))
        return deployments[-1]

    yield start
    for deployment in deployments:
        deployment.cloud.close()
