"""``duetime access confirmations``: two persons cancel many actions, by the setting `two_persons`."""

import json
from dataclasses import replace

import pytest

from duetime.embedded.embedded import Engine
from tests.cli.test_many import LATER


@pytest.fixture
def engine(app):
    """An engine whose deployment needs two persons."""
    engine = Engine(app)
    engine.settings = replace(engine.settings, two_persons=True)
    engine.start()
    yield engine
    engine.stop()


@pytest.fixture
def planned(duetime):
    return [duetime.json("schedule", "remark", *LATER, "--correlation-id", "order:7")["id"] for _ in range(3)]


CANCEL = ("actions", "cancel", "--correlation-id", "order:7", "--yes", "--user", "ada")


def waiting(duetime):
    return duetime.json("access", "confirmations", "list")["items"]


def statuses(duetime, ids):
    return {duetime.json("actions", "show", one)["status"] for one in ids}


def test_a_second_person_confirms_what_the_first_requested(duetime, planned):
    status, _, errors = duetime(*CANCEL)
    [request] = waiting(duetime)
    assert (status, statuses(duetime, planned)) == (1, {"pending"})
    assert "nothing is changed yet: another person must confirm it" in errors
    assert f"duetime access confirmations confirm {request['id']}" in errors
    status, printed, _ = duetime("access", "confirmations", "list")
    assert (status, printed.splitlines()[1].split()[:4]) == (0, [request["id"], "cancelActions", "3", "ada"])
    confirm = ("access", "confirmations", "confirm", request["id"], "--user")
    status, _, errors = duetime(*confirm, "ada")
    assert (status, f"ada requested {request['id']}, so another person must confirm it" in errors) == (
        1,
        True,
    )
    status, printed, _ = duetime(*confirm, "bob")
    assert (status, printed) == (0, f"confirmed {request['id']}: cancelActions, changed 3\n")
    assert statuses(duetime, planned) == {"cancelled"}
    status, printed, _ = duetime("access", "confirmations", "show", request["id"])
    assert printed.startswith(f"{request['id']}: ended, by bob\ncancelActions /actions/cancel\n")
    assert "  correlation_id: order:7\n" in printed


def test_a_withdrawn_request_changes_nothing(duetime, planned):
    duetime(*CANCEL)
    [request] = waiting(duetime)
    status, printed, _ = duetime("access", "confirmations", "withdraw", request["id"], "--user", "ada")
    assert (status, printed) == (0, f"withdrew {request['id']}: nothing was changed\n")
    assert duetime("access", "confirmations", "list")[1] == "nothing waits for a second person\n"
    status, _, errors = duetime("access", "confirmations", "confirm", request["id"], "--user", "bob")
    assert (status, "was withdrawn by ada; request the change again" in errors) == (1, True)
    assert statuses(duetime, planned) == {"pending"}


def test_the_json_of_a_confirmed_change_has_its_count(duetime, planned):
    duetime(*CANCEL)
    [request] = waiting(duetime)
    status, printed, _ = duetime(
        "access", "confirmations", "confirm", request["id"], "--user", "bob", "--json"
    )
    assert (status, json.loads(printed)["changed"]) == (0, 3)
