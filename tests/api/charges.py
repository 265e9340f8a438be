"""An API whose app keeps things of its payloads as sensitive, and those who ask it."""

from dataclasses import replace

from pydantic import BaseModel, Field, field_validator

from duetime import App, Payload, Run
from duetime.api.app import make_api
from duetime.api.context import Access, ApiContext, Health
from duetime.embedded.cloud import MemoryCloud
from duetime.memory.notes import MemoryBookmarks
from duetime.settings import Settings
from duetime.testing import TurnedClock
from tests.api.conftest import NOW, Client, sample_event
from tests.backends import MemoryAuditTrail, MemoryGrants

MANAGE = "actions:manage jobs:manage audit:read system"
SECRET, REDACTED = "secret-4711", "[redacted]"


class Card(BaseModel):
    holder: str = "Ada"
    number: str


class Charge(
    Payload, version=2, in_events=True, sensitive=("email", "cards.number", "wallet"), serialize_by_alias=True
):
    order: str = "o-1"
    email: str | None = None
    cards: tuple[Card, ...] = ()
    wallet: str | None = Field(None, alias="purse")

    @classmethod
    def upcast(cls, written, version):
        if version < 2:
            written["email"] = written.pop("mail")
        return written

    @field_validator("order")
    @classmethod
    def _may_raise(cls, order):
        if order == "crash":
            raise RuntimeError(order)
        return order


class Plain(Payload):
    email: str = ""


def app_of_charges():
    app = App()

    @app.action
    def charge(payload: Charge, run: Run) -> None: ...

    @app.action
    def plain(payload: Plain, run: Run) -> None: ...

    @app.job("every 1h", name="charges-hourly", payload=Charge(email=SECRET))
    def hourly(payload: Charge, run: Run) -> None: ...

    return app


class Charges:
    """An API whose app keeps things as sensitive; readers may see them, clerks all but them."""

    def __init__(self):
        self.settings = Settings(
            events="all",
            roles={
                "clerks": MANAGE,
                "readers": f"{MANAGE} payloads:read",
                "planners": "jobs:read system",
                "heads": f"{MANAGE} grants:manage",
            },
        )
        self.clock = TurnedClock(NOW)
        self.cloud = MemoryCloud(app_of_charges(), clock=self.clock, settings=self.settings)
        api = ApiContext(
            self.cloud.store,
            self.cloud.job_ports,
            app_of_charges(),
            self.clock,
            self.settings,
            self.cloud.undelivered_ports,
        )
        self._api, self._access = api, Access(MemoryGrants(), MemoryAuditTrail())
        self.undelivered = self.cloud.undelivered_ports.store
        self.client = Client(make_api(api, Health(MemoryBookmarks()), self._access))

    def with_logs(self, logs):
        """Let the API read these logs."""
        self.client = Client(
            make_api(replace(self._api, run_logs=logs), Health(MemoryBookmarks()), self._access)
        )
        return self

    def ask(self, method, path, group="clerks", tenant="acme", **changes):
        claims = {"custom:tenant_id": tenant, "sub": group, "cognito:groups": group}
        event = sample_event(
            "cancel", httpMethod=method, path=f"/api/v1{path}", claims=claims, **{"body": None, **changes}
        )
        return self.client.send(event)

    def schedule(self, payload, type_="charge", **who):
        return self.ask("POST", "/actions", body={"type": type_, "payload": payload, "in": 60}, **who).json

    def keep(self, action_id, **changes):
        """Store a copy of the row with other values, and return its path."""
        (row,) = (row for row in self.cloud.store.rows() if row.id == action_id)
        other = replace(row, id=row.id[:-12] + "0" * 12, **changes)
        self.cloud.store.put(other)
        return f"/actions/{other.id}"
