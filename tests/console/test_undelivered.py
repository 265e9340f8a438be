"""What is undelivered: what was given up, why, and having it done again.

A local cloud gives nothing up. So the tests store what a deployment would, and redrive it with its step.
"""

import json
from datetime import UTC, datetime, timedelta

import pytest
from playwright.sync_api import expect

from duetime.aws.messages import to_json
from duetime.clock import SystemClock
from duetime.errors import NotFound, UnreadableMessage
from duetime.local import LocalCloud, LocalOptions
from duetime.model.action import ActionRef
from duetime.model.undelivered import UndeliveredKind, requested_in, undelivered_id
from duetime.ports.undelivered import UndeliveredHandlerPorts
from duetime.ports.wakeups import FAILURES
from duetime.undelivered.undelivered_handler import Redrive
from duetime.wakeups.due_messages import message_of
from tests.console.browser import PATIENCE, flaws, scrolls_sideways, signed_in
from tests.console.shop import Parcel, app
from tests.console.tenants import ports_of
from tests.contract.rules.undelivered import given_up
from tests.local.conftest import eventually

WORDS = {
    UndeliveredKind.MESSAGE: "message of a queue",
    UndeliveredKind.RECORD: "record of the stream",
    UndeliveredKind.WAKE: "wake",
    UndeliveredKind.EVENT: "event that starts a job",
    UndeliveredKind.PASS: "sweep or catch-up",
    UndeliveredKind.LIFECYCLE: "lifecycle event",
    UndeliveredKind.NOTIFICATION: "notification",
}


@pytest.fixture(scope="module")
def cloud():
    with LocalCloud(app, LocalOptions()) as started:
        ports_of(started).undelivered.queues.put = redriver_of(started._engine.cloud)
        yield started


def redriver_of(steps):
    """What stands for the failure queue and its reader."""
    own = steps.undelivered_ports
    ports = UndeliveredHandlerPorts(
        steps.store, steps.queues, steps.routes, None, own.store, own.queues, steps.bus
    )
    repeat = Redrive(ports, steps.steps.arm, unreadable, clock=steps.clock, settings=steps.settings)

    def put(queue, body):
        assert queue == FAILURES
        repeat(requested_in(json.loads(body)))

    return put


def unreadable(content):
    raise UnreadableMessage(f"no wake is in {content}")


@pytest.fixture(scope="module")
def began(cloud):
    """When it was."""
    return SystemClock().now()


@pytest.fixture(scope="module")
def keep(cloud):
    """Store an input that has just become undelivered."""
    store = ports_of(cloud).undelivered.store

    def stored(name, **more):
        now = SystemClock().now()
        thing = given_up(name, now, **({"first_at": now, "last_at": now} | more))
        store.keep(thing, expires_at=now + timedelta(days=1))
        return thing

    return stored


@pytest.fixture
def each_kind(keep, began):
    """One thing of each kind, whatever became of it before."""
    return {
        kind: keep(f"one {kind}", id=undelivered_id(began, kind), kind=kind, source=f"by-{kind}")
        for kind in UndeliveredKind
    }


def row(page, source):
    return page.get_by_role("row").filter(has_text=source)


def redrive(page, kind, source):
    page.get_by_role("button", name=f"Redrive: {WORDS[kind]} of {source}").click()
    return page.get_by_role("dialog", name="Redrive this?")


def is_gone(cloud, thing):
    try:
        cloud.scheduler().undelivered.get(thing.id)
    except NotFound:
        return True
    return False


def test_each_kind_shows_its_source_and_reason(reader, each_kind):
    page = reader.go("#/undelivered")
    for kind, thing in each_kind.items():
        shown = row(page, f"by {thing.source}")
        expect(shown.get_by_role("link", name=WORDS[kind], exact=True)).to_be_visible(timeout=PATIENCE)
        expect(shown).to_contain_text("no worker took it")


@pytest.mark.parametrize("kind", list(UndeliveredKind))
def test_a_redrive_is_explained_before_it_starts(reader, each_kind, kind):
    page = reader.go(f"#/undelivered/{each_kind[kind].id}")
    does = page.locator("dd").last.inner_text()
    dialog = redrive(page, kind, f"by-{kind}")
    expect(dialog).to_contain_text("It will be done soon.")
    assert dialog.locator("p").nth(1).inner_text() in does
    dialog.get_by_role("button", name="Go back").click()
    expect(dialog).to_have_count(0)


def test_a_dead_message_links_to_its_action_and_its_redrive_removes_it(reader, cloud, keep):
    action = cloud.scheduler().schedule(Parcel(order="5"), at=timedelta(hours=2))
    body = to_json(message_of(action))
    thing = keep("dead", source="due-spare", body=body, action=action.ref)
    page = reader.go("#/undelivered")
    shown = page.get_by_role("row").filter(has=page.get_by_role("link", name=action.id))
    shown.get_by_role("link", name="message of a queue").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Message of a queue · due-spare")
    expect(page.get_by_text(f'"{action.id}"').first).to_be_visible(timeout=PATIENCE)
    page.go_back()
    shown.get_by_role("button", name="Redrive").click()
    dialog = page.get_by_role("dialog", name="Redrive this?")
    expect(dialog).to_contain_text("Sends the action's wake at once")
    dialog.get_by_role("button", name="Redrive").click()
    expect(page.get_by_text("It will be redriven soon: gone from here then, or back")).to_be_visible()
    eventually(lambda: is_gone(cloud, thing), "the redrive")
    expect(shown).to_have_count(0, timeout=PATIENCE)
    page.goto(f"{cloud.url}/#/undelivered/{thing.id}")
    reader.expected = ("404",)
    expect(page.get_by_text("It is not there")).to_be_visible(timeout=PATIENCE)


def test_an_input_that_fails_again_stays_with_the_new_reason(reader, cloud, keep):
    thing = keep("gibberish", kind=UndeliveredKind.WAKE, source="dispatch-again", body='{"no": "wake"}')
    page = reader.go(f"#/undelivered/{thing.id}")
    redrive(page, UndeliveredKind.WAKE, thing.source).get_by_role("button", name="Redrive").click()
    expect(page.get_by_text("2 times")).to_be_visible(timeout=PATIENCE)
    expect(page.get_by_text("no worker took it")).to_have_count(0)
    assert cloud.scheduler().undelivered.get(thing.id).count == 2


def test_selected_inputs_are_redriven_after_they_were_listed(reader, cloud, keep):
    passes = [
        keep(f"pass {index}", kind=UndeliveredKind.PASS, source="sweep", body="{}") for index in range(12)
    ]
    page = reader.go("#/undelivered")
    many = page.get_by_role("region", name="Redrive many")
    many.get_by_role("combobox", name="Which").select_option(WORDS[UndeliveredKind.PASS])
    many.get_by_role("button", name="Show what would be redriven").click()
    would = many.get_by_role("status")
    expect(would).to_contain_text("would be redriven, the newest first:", timeout=PATIENCE)
    n = int(would.inner_text().split()[0])
    assert n in (12, 13)  # with the one of each kind, or without
    expect(would.get_by_role("listitem")).to_have_count(11)
    expect(would).to_contain_text(f"…and {n - 10} more")
    assert not is_gone(cloud, passes[0])
    many.get_by_role("button", name=f"Redrive these {n}").click()
    dialog = page.get_by_role("dialog", name=f"Redrive {n}?")
    expect(dialog).to_contain_text(f"The newest {n} of that sort are taken")
    assert flaws(page) == []
    dialog.get_by_role("button", name=f"Redrive these {n}").click()
    expect(page.get_by_text(f"{n} will be redriven soon")).to_be_visible(timeout=PATIENCE)
    eventually(lambda: all(is_gone(cloud, entry) for entry in passes), "the redrives")
    many.get_by_role("button", name="Show what would be redriven").click()
    expect(would).to_contain_text("There is nothing of this sort to redrive.", timeout=PATIENCE)


def test_another_sort_starts_a_new_search(reader, each_kind):
    page = reader.go("#/undelivered")
    page.get_by_role("button", name="Show what would be redriven").click()
    would = page.get_by_role("region", name="Redrive many").get_by_role("status")
    expect(would).to_contain_text("would be redriven", timeout=PATIENCE)
    page.get_by_role("combobox", name="Which").select_option(WORDS[UndeliveredKind.LIFECYCLE])
    expect(would).to_be_empty()
    page.get_by_role("button", name="Show what would be redriven").click()
    expect(would.get_by_role("listitem")).to_have_count(1, timeout=PATIENCE)
    expect(would.get_by_role("button", name="Redrive 1")).to_be_visible()


def test_a_truncated_input_cannot_be_redriven_and_text_is_shown_unchanged(reader, keep):
    thing = keep("cut", body="beginning of poison", is_cut=True)
    page = reader.go(f"#/undelivered/{thing.id}")
    expect(page.get_by_text("This is only its beginning, so it cannot be redriven.")).to_be_visible(
        timeout=PATIENCE
    )
    expect(page.get_by_role("group", name="Body")).to_have_text("beginning of poison")
    expect(page.get_by_text("1 time", exact=True)).to_be_visible()
    expect(page.get_by_role("button", name="Redrive")).to_have_count(0)


def test_operators_see_no_sensitive_values_and_no_other_tenants_action(reader_of, cloud, keep):
    ref = ActionRef("globex", "019ca932-7c00-735e-a389-6f2fb6b5d775")
    body = json.dumps({"street": "Elm Street 3"})
    thing = keep("secret", kind=UndeliveredKind.EVENT, body=body, action=ref)
    page = reader_of(cloud.url, **signed_in("op", groups="operators")).go(f"#/undelivered/{thing.id}")
    expect(page.get_by_text("the permission payloads:read shows it")).to_be_visible(timeout=PATIENCE)
    expect(page.get_by_text("globex")).to_be_visible()
    expect(page.get_by_text(ref.id)).to_be_visible()
    expect(page.get_by_role("link", name=ref.id)).to_have_count(0)
    expect(page.get_by_text("Elm Street")).to_have_count(0)


def test_a_long_list_comes_in_pages(reader, keep):
    now = datetime(2026, 3, 1, tzinfo=UTC)
    for index in range(55):
        at = now - timedelta(minutes=index)
        keep(f"old {index}", id=undelivered_id(at, str(index)), source=f"old-{index}-end")
    page = reader.go("#/undelivered")
    expect(page.get_by_role("button", name="Show more")).to_be_visible(timeout=PATIENCE)
    page.get_by_role("button", name="Show more").click()
    expect(row(page, "old-54-end")).to_be_visible(timeout=PATIENCE)
    expect(row(page, "old-0-end")).to_be_visible()


def test_a_user_without_the_permission_sees_the_reason(reader_of, cloud, each_kind):
    reader = reader_of(cloud.url, **signed_in("mo", groups="members"))
    reader.expected = ("403",)
    page = reader.go("#/undelivered")
    expect(page.get_by_text("Your roles do not allow this")).to_be_visible(timeout=PATIENCE)
    expect(page.get_by_role("button", name="Redrive")).to_have_count(0)
    page = reader.go(f"#/undelivered/{each_kind[UndeliveredKind.WAKE].id}")
    expect(page.get_by_text("Your roles do not allow this")).to_be_visible(timeout=PATIENCE)


def test_it_is_in_french(reader_of, cloud, each_kind):
    page = reader_of(cloud.url, locale="fr-FR").go("#/undelivered")
    expect(page.get_by_role("heading", level=1)).to_have_text("Non distribués")
    expect(page.get_by_role("link", name="enregistrement du flux").first).to_be_visible(timeout=PATIENCE)
    expect(page.get_by_text("toutes organisations confondues")).to_be_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_list_item_and_dialog_are_accessible(reader_of, cloud, each_kind, scheme):
    page = reader_of(cloud.url, color_scheme=scheme).go("#/undelivered")
    expect(row(page, "by-wake")).to_be_visible(timeout=PATIENCE)
    assert flaws(page) == []
    expect(redrive(page, UndeliveredKind.WAKE, "by-wake")).to_be_visible()
    assert flaws(page) == []
    page.keyboard.press("Escape")
    page.goto(f"{cloud.url}/#/undelivered/{each_kind[UndeliveredKind.WAKE].id}")
    expect(page.get_by_role("region", name="Body")).to_be_visible(timeout=PATIENCE)
    assert flaws(page) == []


def test_it_fits_a_phone(reader_of, cloud, each_kind):
    reader = reader_of(cloud.url, viewport={"width": 360, "height": 800})
    page = reader.go("#/undelivered")
    expect(row(page, "by-wake")).to_be_visible(timeout=PATIENCE)
    assert not scrolls_sideways(page)
    page = reader.go(f"#/undelivered/{each_kind[UndeliveredKind.WAKE].id}")
    expect(page.get_by_role("region", name="Body")).to_be_visible(timeout=PATIENCE)
    assert not scrolls_sideways(page)
