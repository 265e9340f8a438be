"""An API over one cloud, under settings that a test says, and the directory of its routes."""

from duetime.api import all_routes
from duetime.api.access import Access
from duetime.api.app import make_door
from duetime.api.context import ApiContext
from duetime.api.health import Health
from duetime.embedded.cloud import MemoryCloud
from duetime.memory.access import MemoryAuditTrail, MemoryGrants
from duetime.model.permissions import Permission
from duetime.settings import Settings
from duetime.testing import TurnedClock
from tests.api.conftest import NOW, Client, jobs_app, nobodys_notifications, sample_event

NAME = "01983b5e-7c00-7a3c-9f21-5d0c8e4b7a16"
CLAIMS = {"custom:tenant_id": "acme", "sub": "s-1", "email": "ada@acme.example"}
ALONE = {item.name.lower(): item.value for item in Permission}
"""A role for each permission."""


class Office:
    """An API over one cloud, under settings that a test says."""

    def __init__(self, clock, **settings):
        self.clock, self.settings = clock, Settings(**settings)
        self.grants, self.trail = MemoryGrants(), MemoryAuditTrail()
        self.notified = nobodys_notifications()
        self.cloud = MemoryCloud(jobs_app(), clock=clock, settings=self.settings)
        api = ApiContext(
            self.cloud.store,
            self.cloud.job_ports,
            jobs_app(),
            clock,
            self.settings,
            self.cloud.undelivered_ports,
            self.notified,
        )
        self.access = Access(self.grants, self.trail, clock)
        self.routes = list(all_routes.routes_of(api, Health({}), self.access))
        self.send = Client(make_door(api, Health({}), self.access)).send

    def ask(self, method, path, *groups, **changes):
        claims = changes.pop("claims", CLAIMS | {"cognito:groups": " ".join(groups)})
        event = sample_event("cancel", httpMethod=method, path=f"/api/v1{path}", claims=claims, **changes)
        return self.send(event)


def served():
    """Each route's method, path and the permissions of which it needs one."""
    return [(route.method, route.path, route.admits) for route in Office(TurnedClock(NOW), roles={}).routes]


GUARDED = [item for item in served() if item[2]]


def at(path, name=NAME):
    """A path with a name where one stands."""
    head, _, rest = path.partition("<")
    return head + (name + rest.partition(">")[2] if rest else "")
