"""``duetime undelivered``, against an API over a memory cloud."""

import json
from dataclasses import replace
from datetime import timedelta

import pytest

from duetime.cli.client import Client
from duetime.cli.many import redriven
from duetime.cli.views import UNDELIVERED_KINDS
from duetime.model.action import ActionRef
from duetime.model.undelivered import UndeliveredKind, request_for
from duetime_contract.specimens import EXPIRY, NOON
from tests.contract.rules.undelivered import given_up

ACTION = ActionRef("acme", "01983b5e-7c00-7a3c-9f21-5d0c8e4b7a16")


@pytest.fixture
def ports(engine):
    return engine.cloud.undelivered_ports


@pytest.fixture
def undelivered(ports):
    """Two inputs, the newest first."""
    items = [
        given_up("]\x1b[31m[", NOON + timedelta(hours=1), reason="no\x1b[31m JSON " + "x" * 100),
        given_up("b", kind=UndeliveredKind.WAKE, source="dispatch", action=ACTION),
    ]
    for item in items:
        ports.store.keep(item, expires_at=EXPIRY)
    return items


def test_an_empty_list_is_one_line(duetime):
    assert duetime("undelivered", "list") == (0, "nothing is undelivered\n", "")


def test_inputs_are_listed_in_columns_with_a_command_for_the_next_page(duetime, undelivered):
    status, printed, _ = duetime("undelivered", "list", "--limit", "1")
    head, line, more = printed.splitlines()
    assert status == 0
    assert head.split() == ["ID", "KIND", "FROM", "LAST", "COUNT", "ACTION", "REASON"]
    assert line.startswith(f"{undelivered[0].id}  message  due-default")
    assert "\x1b" not in printed
    _, printed, _ = duetime(*more.removeprefix("more: duetime ").split())
    assert undelivered[1].id in printed
    assert ACTION.id in printed
    assert "more:" not in printed


def test_an_input_is_shown_in_full(duetime, undelivered):
    _, printed, _ = duetime("undelivered", "list", undelivered[1].id)
    assert printed.splitlines()[0] == f"{undelivered[1].id}  wake  from dispatch"
    assert f"  action          {ACTION.id} of acme" in printed
    assert "  body            b" in printed
    _, printed, _ = duetime("undelivered", "list", undelivered[0].id)
    assert "  action          not known" in printed
    assert "\x1b" not in printed


def test_json_is_the_response_of_the_api(duetime, undelivered):
    assert [item["id"] for item in duetime.json("undelivered", "list")["items"]] == [
        item.id for item in undelivered
    ]
    assert duetime.json("undelivered", "list", undelivered[1].id)["body"] == "b"


def test_inputs_are_redriven_by_id(duetime, undelivered, ports):
    status, printed, _ = duetime("undelivered", "redrive", undelivered[1].id, undelivered[0].id)
    assert status == 0
    assert printed.splitlines() == [
        f"requested redrive of {undelivered[1].id}: wake  from dispatch",
        f"requested redrive of {undelivered[0].id}: message  from due-default",
    ]
    assert ports.queues.sent == [("failures", request_for(item.id)) for item in reversed(undelivered)]


def test_an_unknown_id_redrives_nothing(duetime, undelivered, ports):
    status, _, errors = duetime("undelivered", "redrive", undelivered[0].id, "u.1")
    assert (status, errors) == (1, "duetime: there is no undelivered input 'u.1'\n")
    assert ports.queues.sent == []


def test_all_are_redriven_or_listed_in_a_dry_run(duetime, undelivered, ports):
    _, printed, _ = duetime("undelivered", "redrive", "--all", "--dry-run")
    assert [line.split()[:3] for line in printed.splitlines()] == [
        ["would", "redrive", f"{item.id}:"] for item in undelivered
    ]
    assert duetime.json("undelivered", "redrive", undelivered[0].id, "--dry-run")["dry_run"] is True
    assert ports.queues.sent == []
    duetime("undelivered", "redrive", "--all", "--kind", "wake", "--limit", "5")
    assert ports.queues.sent == [("failures", request_for(undelivered[1].id))]
    duetime("undelivered", "redrive", "--all")
    assert len(ports.queues.sent) == 3


def test_a_redrive_of_an_empty_list_is_one_line(duetime):
    assert duetime("undelivered", "redrive", "--all") == (0, "nothing to redrive\n", "")


@pytest.mark.parametrize("words", [(), ("u.1", "--all"), ("u.1", "--kind", "wake"), ("--all", "--kind", "x")])
def test_bad_usage_is_printed_on_one_line(duetime, words):
    status, _, errors = duetime("undelivered", "redrive", *words)
    assert status == 2
    assert len(errors.splitlines()) == 1


def test_the_option_takes_every_kind():
    assert set(UNDELIVERED_KINDS) == {kind.value for kind in UndeliveredKind}


class _Handles:
    """A clock whose wait lets the undelivered handler act, as in a deployment."""

    def __init__(self, handle):
        self._handle = handle

    def now(self):
        return NOON

    def wait_until(self, _at):
        self._handle()


def test_a_watched_redrive_ends_once_each_is_gone_or_came_back(undelivered, ports, url, capsys):
    back, gone = undelivered
    client = Client(url)
    items = [client.ask("GET", "undelivered", item.id) for item in undelivered]

    def handle():
        ports.store.remove(gone)
        ports.store.keep(replace(back, reason="redriven in vain"), expires_at=EXPIRY)

    ended = {item["id"]: latest for item, latest in redriven(client, items, _Handles(handle))}
    assert ended[gone.id] is None
    assert ended[back.id]["reason"] == "redriven in vain"
    assert capsys.readouterr().err == "2 not done yet\n"


def test_a_watched_redrive_prints_how_each_ended(duetime, undelivered, ports):
    back, gone = undelivered

    def put(_queue, body):
        if gone.id in body:
            ports.store.remove(ports.store.get(gone.id))
        else:
            ports.store.keep(replace(back, reason="in vain \x1b[31m"), expires_at=EXPIRY)

    ports.queues.put = put
    status, printed, _ = duetime("undelivered", "redrive", "--all", "--watch")
    assert status == 1
    assert printed.splitlines()[2:] == [
        f"{back.id}  came back: in vain  [31m",
        f"{gone.id}  gone",
        "1 gone, 1 came back",
    ]
    status, printed, _ = duetime("--json", "undelivered", "redrive", back.id, "--watch")
    document = json.loads(printed)
    assert (status, document["gone"], document["came_back"][0]["id"]) == (1, [], back.id)


def test_a_dry_run_has_nothing_to_watch(duetime):
    status, _, line = duetime("undelivered", "redrive", "--all", "--dry-run", "--watch")
    assert (status, "nothing to --watch" in line) == (2, True)
