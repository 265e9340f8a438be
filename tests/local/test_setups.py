"""A setup creates the handlers' own tables before the app is deployed on the local cloud."""

import sys
from datetime import timedelta
from pathlib import Path

import boto3
import pytest

from duetime import App, Payload, RetryPolicy, Run, Scheduler
from duetime.cli import main
from duetime.errors import Unsupported
from duetime.local import LocalCloud, LocalOptions
from duetime.model.action import Status
from tests.local.apps import setups
from tests.local.conftest import eventually

ROOT = Path(__file__).parents[2]


class Place(Payload):
    order: str


def shop() -> App:
    app = App()

    @app.action(retry=RetryPolicy(attempts=2, backoff=3600))
    def place(payload: Place, run: Run) -> None:
        run.commit([{"Put": {"TableName": "orders", "Item": {"id": {"S": payload.order}}}}])

    return app


def ran(cloud):
    """Run an action, and return it after its first attempt."""
    scheduler = cloud.scheduler()
    placed = scheduler.schedule(Place(order="o-1"), at=timedelta(0))

    def ended():
        row = scheduler.get(placed.id)
        return row if row.attempts and row.attempts[0].finished_at else None

    return eventually(ended, "the attempt")


def test_handlers_use_the_resources_of_the_setup():
    with LocalCloud(shop(), LocalOptions(setup=setups.make_orders)) as cloud:
        assert ran(cloud).status is Status.EXECUTED
        assert boto3.client("dynamodb").scan(TableName="orders")["Items"] == [{"id": {"S": "o-1"}}]


def test_without_its_table_an_attempt_names_it_and_is_retried():
    with LocalCloud(shop(), LocalOptions(setup=lambda: None)) as cloud:
        row = ran(cloud)
    assert row.status is Status.PENDING
    assert "Make the table orders in us-east-1" in row.attempts[0].message


def test_a_transaction_of_the_caller_has_an_order_and_its_action():
    with LocalCloud(shop(), LocalOptions(setup=setups.make_orders)) as cloud:
        placed, items = Scheduler.from_env(tenant_id="acme").transact_items(
            Place(order="o-2"), at=timedelta(0)
        )
        order = {"Put": {"TableName": "orders", "Item": {"id": {"S": "o-1"}}}}
        boto3.client("dynamodb").transact_write_items(TransactItems=[order, *items])
        eventually(lambda: cloud.scheduler().get(placed.id).status is Status.EXECUTED, "the run")
        assert len(boto3.client("dynamodb").scan(TableName="orders")["Items"]) == 2


def test_without_a_setup_a_transaction_names_the_option():
    with LocalCloud(shop()), pytest.raises(Unsupported, match="--setup"):
        Scheduler.from_env(tenant_id="acme").transact_items(Place(order="o-2"), at=timedelta(0))


def test_without_a_setup_a_commit_names_the_option():
    with LocalCloud(shop()) as cloud:
        row = ran(cloud)
    assert row.status is Status.PENDING
    assert "--setup" in row.attempts[0].message


def test_the_setup_runs_once_before_the_deploy():
    found = []

    def setup():
        client = boto3.client("dynamodb")
        found.append((client.meta.region_name, client.list_tables()["TableNames"]))

    with LocalCloud(shop(), LocalOptions(setup=setup)) as cloud:
        cloud.redeploy(app=shop())
    assert found == [("us-east-1", [])]


def test_an_error_of_the_setup_ends_the_start_and_cleans_up():
    with pytest.raises(Exception, match="Table already exists"):
        LocalCloud(shop(), LocalOptions(setup=setups.make_them_twice)).start()
    with LocalCloud(shop(), LocalOptions(setup=setups.make_orders)):
        assert "orders" in boto3.client("dynamodb").list_tables()["TableNames"]


@pytest.fixture
def report(monkeypatch, capsys):
    """Return a function that runs ``duetime local`` with a failing setup and returns the error lines."""
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr(sys, "path", list(sys.path))

    def report(setup):
        assert main(["local", "--app", "examples.billing:app", "--port", "0", "--setup", setup])
        return capsys.readouterr().err.strip().splitlines()

    return report


def test_the_command_prints_an_error_of_the_setup_with_its_source_line(report):
    line, location = report("tests.local.apps.setups:make_them_twice")
    assert "the setup 'tests.local.apps.setups:make_them_twice' failed: ResourceInUseException" in line
    assert location.strip().startswith(f"at {setups.__file__}, line ")


@pytest.mark.parametrize(
    ("setup", "expected"),
    [
        ("setups", "--setup 'setups' is not module:name"),
        ("tests.local.apps.missing:make", "cannot import the setup"),
        ("tests.local.apps.broken:make", "ZeroDivisionError"),
        ("tests.local.apps.setups:make_carts", "no function that can be called with nothing"),
        ("tests.local.apps.setups:TABLES", "no function that can be called with nothing"),
        ("tests.local.apps.setups:make_later", "write `def make_later() -> None`"),
        ("tests.local.apps.setups:make_named", "missing 1 required positional argument"),
    ],
)
def test_a_setup_that_is_no_function_is_an_error_on_one_line(report, setup, expected):
    assert expected in report(setup)[0]


def test_a_folder_beside_a_setup_is_refused(monkeypatch, capsys, tmp_path):
    monkeypatch.chdir(ROOT)
    words = ["local", "--app", "examples.billing:app", "--data", str(tmp_path)]
    for more in (["--setup", "tests.local.apps.setups:make_orders"], ["--target", "https://a.example"]):
        assert main([*words, *more]) == 2
        assert "data keeps duetime's tables in a file" in capsys.readouterr().err
