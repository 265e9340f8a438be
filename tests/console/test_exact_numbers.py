"""Numbers that JavaScript cannot hold: shown, copied, edited and sent as they were written."""

import json
import re
from datetime import timedelta

import pytest
from playwright.sync_api import expect

from tests.console.listed_actions import asks_for_type
from tests.console.shop import Parcel
from tests.console.tenants import EVENING, register

LARGE = 9_007_199_254_740_993
"""2^53 + 1: the first integer that a JavaScript number rounds."""


@pytest.fixture(scope="module", autouse=True)
def job(cloud):
    return register(cloud, "acme-ledger", EVENING, tenant="acme", fails=LARGE)


def payload_of(cloud, action):
    return json.loads(cloud.scheduler().get(action.id).payload)


def test_a_64_bit_number_is_shown_and_copied_as_it_is(reader_of, cloud):
    made = cloud.scheduler().schedule(Parcel(order="1", fails=LARGE), at=timedelta(days=40))
    page = reader_of(cloud.url, permissions=["clipboard-read", "clipboard-write"]).go(f"#/actions/{made.id}")
    expect(page.locator(".tree-number")).to_have_text(str(LARGE))
    page.get_by_role("button", name="Copy as JSON").click()
    expect(page.get_by_text("Copied")).to_be_visible()
    assert json.loads(page.evaluate("navigator.clipboard.readText()"))["fails"] == LARGE


def test_a_64_bit_number_is_scheduled_as_it_was_typed(reader, cloud):
    page = reader.go("#/actions")
    dialog = asks_for_type(page)
    dialog.get_by_label("Payload").fill(f'{{"order": "2", "fails": {LARGE}}}')
    dialog.get_by_label("Unit").select_option("days")
    dialog.get_by_label("Correlation id (may be left out)").fill("exact:2")
    with page.expect_request("**/actions") as sent:
        dialog.get_by_role("button", name="Schedule it").click()
    expect(page.get_by_text("Scheduled: parcel, due")).to_be_visible()
    assert f'"fails":{LARGE}' in sent.value.post_data
    (made,) = cloud.scheduler().list(correlation_id="exact:2")
    assert payload_of(cloud, made)["fails"] == LARGE


def test_a_jobs_64_bit_number_survives_an_edit_of_its_payload(reader, cloud):
    page = reader.go("#/jobs/acme-ledger")
    page.get_by_role("button", name="Run now").click()
    field = page.get_by_role("dialog").get_by_label("Payload")
    expect(field).to_have_value(re.compile(str(LARGE)))
    field.fill(field.input_value().replace("acme-ledger", "edited"))
    page.get_by_role("dialog").get_by_role("button", name="Run it").click()
    expect(page.get_by_role("dialog")).to_have_count(0)
    payloads = [payload_of(cloud, run) for run in cloud.scheduler().list(job="acme-ledger")]
    (edited,) = (payload for payload in payloads if payload["order"] == "edited")
    assert edited["fails"] == LARGE


def test_a_number_that_is_no_integer_keeps_its_text(reader, cloud):
    page = reader.go("#/actions")
    dialog = asks_for_type(page)
    dialog.get_by_label("Payload").fill('{"order": "3", "fails": 1.0}')
    with page.expect_request("**/actions") as sent:
        dialog.get_by_role("button", name="Schedule it").click()
    assert '"fails":1.0' in sent.value.post_data
