"""A deployment of the API over one cloud, with settings of the test, and its routes."""

from dataclasses import replace
from functools import partial

from duetime.api.app import make_api
from duetime.api.context import Access, ApiContext, Health
from duetime.api.routes import routes_of
from duetime.embedded.cloud import MemoryCloud
from duetime.errors import BackendUnavailable
from duetime.jobs.trusted_reading import KnownPauses
from duetime.memory.keyed_items import MemoryItems
from duetime.memory.notes import MemoryBookmarks
from duetime.model.permissions import Permission
from duetime.ports.notifications import Inbox, InboxPorts, PreferencesStore
from duetime.settings import Settings
from duetime.testing import TurnedClock
from tests.api.conftest import NOW, Client, jobs_app, sample_event
from tests.backends import MemoryAuditTrail, MemoryGrants

NAME = "01983b5e-7c00-7a3c-9f21-5d0c8e4b7a16"
CLAIMS = {"custom:tenant_id": "acme", "sub": "s-1", "email": "ada@acme.example"}
ALONE = {item.name.lower(): item.value for item in Permission}
"""A role for each permission."""


class Hooked:
    """A back end; `hooks` replace its methods, and receive the method and its arguments."""

    def __init__(self, backend):
        self.backend, self.hooks = backend, {}

    def __getattr__(self, name):
        method = getattr(self.backend, name)
        return partial(self.hooks[name], method) if name in self.hooks else method


def unavailable(_method, *_arguments):
    raise BackendUnavailable("DynamoDB", "timed out")


class Deployment:
    """An API over one cloud, with settings of the test."""

    def __init__(self, clock, *, app=jobs_app, **settings):
        self.clock, self.settings = clock, Settings(**settings)
        self.grants, self.trail = Hooked(MemoryGrants()), Hooked(MemoryAuditTrail())
        self.preferences = Hooked(PreferencesStore(MemoryItems()))
        self.notified = InboxPorts(self.preferences, Inbox(MemoryItems()))
        self.cloud = MemoryCloud(app(), clock=clock, settings=self.settings)
        self.store, self.jobs = Hooked(self.cloud.store), Hooked(self.cloud.job_ports.jobs)
        api = ApiContext(
            self.store,
            replace(self.cloud.job_ports, jobs=self.jobs),
            app(),
            clock,
            self.settings,
            self.cloud.undelivered_ports,
            self.notified,
            pauses=KnownPauses(self.cloud.pauses, clock),
            quotas=self.cloud.usage_quotas,
            limits=self.cloud.limits,
        )
        self.access = Access(self.grants, self.trail)
        self.routes = list(routes_of(api, Health(MemoryBookmarks()), self.access))
        self.send = Client(make_api(api, Health(MemoryBookmarks()), self.access)).send

    def ask(self, method, path, *groups, **changes):
        claims = changes.pop("claims", CLAIMS | {"cognito:groups": " ".join(groups)})
        event = sample_event("cancel", httpMethod=method, path=f"/api/v1{path}", claims=claims, **changes)
        return self.send(event)


def served():
    """Each route's method, path and the permissions of which it needs one."""
    return [
        (route.method, route.path, route.admits) for route in Deployment(TurnedClock(NOW), roles={}).routes
    ]


GUARDED = [item for item in served() if item[2]]


def at(path, name=NAME):
    """A path with a name where one stands."""
    head, _, rest = path.partition("<")
    return head + (name + rest.partition(">")[2] if rest else "")
