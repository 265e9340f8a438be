"""What is undelivered, as operators of an app in memory see it, and who may not."""

import pytest

from duetime import App, Payload, Run, Scheduler
from duetime.errors import Forbidden, InvalidCursor, NotFound, Unsupported
from duetime.model.undelivered import UndeliveredKind, request_for
from duetime.testing import SimulatedCloud
from duetime_contract.specimens import EXPIRY, HOUR, NOON
from tests.contract.rules.undelivered import given_up


class Note(Payload):
    text: str = ""


def app() -> App:
    made = App()

    @made.action
    def note(payload: Note, run: Run) -> None:
        pass

    return made


@pytest.fixture
def cloud():
    return SimulatedCloud(app())


@pytest.fixture
def undelivered(cloud):
    return cloud.scheduler.undelivered


@pytest.fixture
def ports(cloud):
    return cloud.memory.undelivered_ports


def test_in_memory_nothing_is_undelivered(undelivered):
    assert list(undelivered.list()) == []
    assert undelivered.redrive_many() == ()
    with pytest.raises(NotFound, match=r"there is no undelivered input 'u\.1'"):
        undelivered.get("u.1")
    with app().embedded() as embedded:
        assert list(embedded.undelivered.list()) == []


def test_one_is_redriven_by_a_request(undelivered, ports):
    thing = given_up()
    ports.store.keep(thing, expires_at=EXPIRY)
    assert undelivered.redrive(thing.id) == thing
    assert ports.queues.sent == [("failures", request_for(thing.id))]
    assert undelivered.get(thing.id) == thing


def test_many_of_a_kind_are_redriven_however_many_there_are(undelivered, ports):
    for number in range(300):
        kind = UndeliveredKind.WAKE if number % 3 else UndeliveredKind.MESSAGE
        ports.store.keep(given_up(str(number), NOON + number * HOUR, kind=kind), expires_at=EXPIRY)
    assert len(undelivered.redrive_many("wake", limit=150, dry_run=True)) == 150
    assert ports.queues.sent == []
    assert len(undelivered.redrive_many(UndeliveredKind.MESSAGE)) == 100
    assert len(ports.queues.sent) == 100


@pytest.mark.parametrize("call", [{"limit": 0}, {"limit": 1_001}, {"kind": "strange"}])
def test_an_invalid_number_or_kind_is_rejected(undelivered, call):
    with pytest.raises(ValueError, match=r"allowed is|not a valid"):
        undelivered.redrive_many(**call)


def test_an_invalid_list_request_is_rejected(undelivered):
    with pytest.raises(ValueError, match="allowed is 1 to 200"):
        undelivered.list(limit=0)
    with pytest.raises(InvalidCursor):
        undelivered.list(cursor="strange")


def test_a_scheduler_limited_to_a_tenant_is_rejected(cloud, ports):
    given = {"tenant_id": "acme", "actor": "ann", "clock": cloud.clock, "settings": cloud.memory.settings}
    tenants_own = Scheduler(cloud.memory.store, undelivered=ports, sees_system=False, **given)
    with pytest.raises(Forbidden, match="for its operators only"):
        tenants_own.undelivered  # noqa: B018 - the look itself is refused
    bare = Scheduler(cloud.memory.store, **given)
    with pytest.raises(Unsupported, match="pass undelivered="):
        bare.undelivered  # noqa: B018 - as above
