"""The first hours of those who have a web application, or functions with Powertools, already."""

import json
import re
import urllib.request

import pytest

from tests.first_hours.pages import code, section

pytestmark = pytest.mark.hours

WEB = "docs/recipes/web.md"
HANDLERS = """
import boto3

from duetime import App, Run
from reminders import SendReminder

app = App()


@app.action
def send_reminder(payload: SendReminder, run: Run) -> None:
    run.log.info("order %s is not paid", payload.order)


def make_orders() -> None:
    boto3.client("dynamodb").create_table(
        TableName="orders",
        BillingMode="PAY_PER_REQUEST",
        KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}],
        AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "S"}],
    )
"""
OF_RECEIPTS = """
from duetime import App, Payload, Run

app = App()


class SendReceipt(Payload):
    order: str


@app.action
def send_receipt(payload: SendReceipt, run: Run) -> None:
    run.log.info("receipt for %s sent", payload.order)
"""
LOCAL = "duetime local --app handlers:app --setup handlers:make_orders"
DJANGO = """
import django
from django.conf import settings

settings.configure(
    INSTALLED_APPS=["django.contrib.auth", "django.contrib.contenttypes", "shop"],
    DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": "shop.sqlite3"}},
    DEFAULT_AUTO_FIELD="django.db.models.BigAutoField",
    USE_TZ=True,
)
django.setup()

from django.contrib.auth.models import User
from django.core.management import call_command
from django.test import RequestFactory
from shop.views import place, repair

call_command("migrate", run_syncdb=True, verbosity=0)
request = RequestFactory().post("/orders")
request.user = User.objects.create(username="ada")
response = place(request)
repair()
print(response.status_code, response.content.decode())
"""
MODELS = """
from django.conf import settings
from django.db import models


class Order(models.Model):
    customer = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE)
    created = models.DateTimeField(auto_now_add=True)
"""
CALL = """
import json
from types import SimpleNamespace

from checkout import handler

event = json.load(open("event.json"))
context = SimpleNamespace(
    function_name="checkout", memory_limit_in_mb=128, invoked_function_arn="arn", aws_request_id="r-1"
)
print(handler(event, context)["body"])
"""


@pytest.fixture
def shop(folder):
    """The folder with the module that the recipes share, and an app that hosts its type."""
    [reminders, *_] = code(section(WEB), "python")
    folder.write("reminders.py", reminders)
    folder.write("handlers.py", HANDLERS)
    return folder


def recipe(heading):
    [block] = code(section(WEB, heading), "py")
    return block


def test_fastapi_stores_an_order_with_its_reminder_which_is_then_executed(shop):
    shop.install('pip install "duetime[local]" fastapi uvicorn')
    shop.write("shop.py", recipe("## FastAPI"))
    with shop.local_cloud(LOCAL) as terminal:
        with shop.server("uvicorn shop:shop --port 0", r"running on (http://\S+)", **terminal) as found:
            request = urllib.request.Request(f"{found[1]}/orders/o-2", method="POST")  # noqa: S310 - our own
            with urllib.request.urlopen(request) as response:  # noqa: S310
                placed = json.loads(response.read())
        assert (response.status, placed["order"]) == (201, "o-2")
        assert "pending" in shop.run(f"duetime actions show {placed['reminder']}", **terminal)
        shop.run(f"duetime actions reschedule {placed['reminder']} --in 0s", **terminal)
        shop.run('duetime schedule send-reminder --payload \'{"order": "o-3"}\' --in 1s --watch', **terminal)
        assert "executed" in shop.run(f"duetime actions show {placed['reminder']}", **terminal)


def test_django_schedules_after_its_commit_and_repairs_without_a_second_reminder(shop):
    shop.install('pip install "duetime[local]" django')
    shop.write("shop/__init__.py", "")
    shop.write("shop/models.py", MODELS)
    shop.write("shop/views.py", recipe("## Django"))
    shop.write("visit.py", DJANGO)
    with shop.local_cloud(LOCAL) as terminal:
        assert '201 {"order": 1}' in shop.run("python visit.py", **terminal)
        [reminder] = json.loads(shop.run("duetime actions list --json", **terminal))["items"]
        shown = json.loads(shop.run(f"duetime actions show {reminder['id']} --json", **terminal))
    assert (shown["type"], shown["payload"]) == ("send-reminder", {"order": "1"})


def test_a_function_with_powertools_schedules_with_the_requests_id_and_once_only(folder):
    folder.install('pip install "duetime[local]"')
    [checkout] = code(section("docs/recipes/aws.md", "## Lambda Powertools"), "python")
    folder.write("checkout.py", checkout)
    folder.write("handlers.py", OF_RECEIPTS)
    folder.write("call.py", CALL)
    event = {"httpMethod": "POST", "path": "/orders/o-4/receipt", "requestContext": {"requestId": "r-1"}}
    folder.write("event.json", json.dumps(event))
    with folder.local_cloud("duetime local --app handlers:app") as terminal:
        first, again = (folder.run("python call.py", **terminal) for _ in range(2))
        found = folder.run("duetime actions list --correlation-id r-1", **terminal)
    assert first == again
    assert re.search(r'"action":\s*"([^"]+)"', first)[1] in found
