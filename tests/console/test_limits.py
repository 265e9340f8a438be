"""Operators see rate limits, change them without a deploy, and reset them; others do not see them."""

from datetime import datetime, timedelta

import pytest
from playwright.sync_api import expect

from duetime import App, Payload, Rate
from duetime.local import LocalCloud, LocalOptions
from tests.console.browser import flaws

app = App()


class Mail(Payload):
    to: str


@app.action(rate=Rate(100, per="minute", key=lambda mail: mail.to, burst=10))
def send_mail(payload: Mail) -> None:
    """Send a mail."""


@pytest.fixture(scope="module")
def cloud():
    with LocalCloud(app, LocalOptions()) as started:
        yield started


def test_a_limit_is_changed_and_reset(reader):
    page = reader.go("#/limits")
    card = page.locator(".card").filter(has_text="mail")
    expect(card).to_contain_text("At most 100 starts a minute, 10 at once after a rest")
    expect(card).to_contain_text("for each key of each tenant")
    page.get_by_role("button", name="Change the limit of mail").click()
    dialog = page.get_by_role("dialog")
    assert flaws(page) == []
    dialog.get_by_label("The most starts").fill("7")
    dialog.get_by_label("Period").select_option("hour")
    dialog.get_by_role("button", name="Set").click()
    expect(card).to_contain_text("At most 7 starts an hour, 1 at once after a rest")
    expect(card).to_contain_text("In code: At most 100 starts a minute, 10 at once after a rest.")
    limits = page.request.get(f"{reader.url}/api/v1/limits").json()["items"]
    assert [(limit["name"], limit["limit"]["count"]) for limit in limits] == [("mail", 7)]
    assert flaws(page) == []
    page.get_by_role("button", name="Reset the limit of mail").click()
    expect(card).to_contain_text("At most 100 starts a minute")
    expect(card).not_to_contain_text("In code")


def test_a_limit_that_cannot_be_enforced_is_not_set(reader):
    reader.expected = ("422",)
    page = reader.go("#/limits")
    page.get_by_role("button", name="Change the limit of mail").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("The most starts").fill("999999")
    dialog.get_by_label("Period").select_option("second")
    dialog.get_by_role("button", name="Set").click()
    expect(dialog).to_contain_text("4000")
    limits = page.request.get(f"{reader.url}/api/v1/limits").json()["items"]
    assert [limit["set_by"] for limit in limits] == [None]


def test_a_pause_of_one_tenant_has_a_stated_spread(reader):
    page = reader.go("#/pauses")
    page.get_by_role("button", name="Pause work").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Its name").fill("mail")
    dialog.get_by_label("Reason").fill("SES is down")
    dialog.get_by_label("Minutes over which").fill("1.5")
    dialog.get_by_label("Only of the tenant").fill("bolt")
    dialog.get_by_role("button", name="Pause", exact=True).click()
    expect(page.locator(".card").filter(has_text="mail")).to_contain_text("bolt")
    page.get_by_role("button", name="End the pause of mail").click()
    expect(page.get_by_text("The pause of mail is over")).to_be_visible()
    (pause,) = page.request.get(f"{reader.url}/api/v1/pauses").json()["items"]
    over_at, ended_at = (datetime.fromisoformat(pause[name]) for name in ("over_at", "ended_at"))
    assert (pause["tenant"], over_at - ended_at) == ("bolt", timedelta(minutes=2, seconds=90))


def test_an_action_is_scheduled_with_flow_control(reader):
    page = reader.go("#/actions")
    page.get_by_role("button", name="Schedule an action").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Type").fill("mail")
    dialog.get_by_label("Payload").fill('{"to": "ada"}')
    dialog.get_by_text("Flow control").click()
    dialog.get_by_label("Expires so many seconds").fill("600")
    dialog.get_by_label("Concurrency key").fill("smtp")
    dialog.get_by_label("How many run at once").fill("3")
    dialog.get_by_label("Rate key").fill("bob")
    dialog.get_by_label("Debounce key").fill("mail:ada")
    dialog.get_by_label("Debounced for").fill("900")
    assert flaws(page) == []
    dialog.get_by_role("button", name="Schedule it").click()
    expect(dialog).to_be_hidden()
    (action,) = page.request.get(f"{reader.url}/api/v1/actions/query").json()["items"]
    names = ("concurrency_key", "concurrency_limit", "rate_key", "debounce_key")
    assert [action[name] for name in names] == ["smtp", 3, "bob", "mail:ada"]
    expires_at, due_at = (datetime.fromisoformat(action[name]) for name in ("expires_at", "due_at"))
    assert expires_at - due_at == timedelta(minutes=10)


def test_flow_control_that_cannot_be_shows_why(reader):
    reader.expected = ("422",)
    page = reader.go("#/actions")
    page.get_by_role("button", name="Schedule an action").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Type").fill("mail")
    dialog.get_by_text("Flow control").click()
    dialog.get_by_label("Priority").select_option("high")
    dialog.get_by_label("Payload").fill('{"to": "ada"}')
    dialog.get_by_role("button", name="Schedule it").click()
    expect(dialog).to_contain_text("high_priority")
