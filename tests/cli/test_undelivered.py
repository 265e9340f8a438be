"""``duetime undelivered``, against an API over a memory cloud."""

from datetime import timedelta

import pytest

from duetime.cli.undelivered import KINDS
from duetime.model.action import ActionRef
from duetime.model.undelivered import UndeliveredKind, request_for
from duetime.testing.contract.specimens import EXPIRY, NOON
from duetime.testing.contract.undelivered import given_up

ACTION = ActionRef("acme", "01983b5e-7c00-7a3c-9f21-5d0c8e4b7a16")


@pytest.fixture
def ports(scheduler):
    return scheduler._undelivered_ports()


@pytest.fixture
def kept(ports):
    """Two things, the newest first."""
    things = [
        given_up("]\x1b[31m[", NOON + timedelta(hours=1), reason="no\x1b[31m JSON " + "x" * 100),
        given_up("b", kind=UndeliveredKind.WAKE, source="dispatch", action=ACTION),
    ]
    for thing in things:
        ports.store.keep(thing, expires_at=EXPIRY)
    return things


def test_an_empty_list_says_so(duetime):
    assert duetime("undelivered", "list") == (0, "nothing is undelivered\n", "")


def test_they_are_listed_in_columns_with_the_next_page_to_paste(duetime, kept):
    status, printed, _ = duetime("undelivered", "list", "--limit", "1")
    head, line, more = printed.splitlines()
    assert status == 0
    assert head.split() == ["ID", "KIND", "FROM", "LAST", "COUNT", "ACTION", "REASON"]
    assert line.startswith(f"{kept[0].id}  message  due-default")
    assert "\x1b" not in printed
    _, printed, _ = duetime(*more.removeprefix("more: duetime ").split())
    assert kept[1].id in printed
    assert ACTION.id in printed
    assert "more:" not in printed


def test_one_is_shown_in_full(duetime, kept):
    _, printed, _ = duetime("undelivered", "show", kept[1].id)
    assert printed.splitlines()[0] == f"{kept[1].id}  wake  from dispatch"
    assert f"  action          {ACTION.id} of acme" in printed
    assert "  body            b" in printed
    _, printed, _ = duetime("undelivered", "show", kept[0].id)
    assert "  action          not known" in printed
    assert "\x1b" not in printed


def test_json_is_what_the_api_answers(duetime, kept):
    assert [each["id"] for each in duetime.json("undelivered", "list")["items"]] == [each.id for each in kept]
    assert duetime.json("undelivered", "show", kept[1].id)["body"] == "b"


def test_some_are_redriven(duetime, kept, ports):
    status, printed, _ = duetime("undelivered", "redrive", kept[1].id, kept[0].id)
    assert status == 0
    assert printed.splitlines() == [
        f"asked to redrive {kept[1].id}: wake  from dispatch",
        f"asked to redrive {kept[0].id}: message  from due-default",
    ]
    assert ports.queues.sent == [("failures", request_for(each.id)) for each in reversed(kept)]


def test_nothing_is_redriven_where_one_is_mistyped(duetime, kept, ports):
    status, _, told = duetime("undelivered", "redrive", kept[0].id, "u.1")
    assert (status, told) == (1, "duetime: nothing undelivered is 'u.1'\n")
    assert ports.queues.sent == []


def test_all_are_redriven_or_told_first(duetime, kept, ports):
    _, printed, _ = duetime("undelivered", "redrive", "--all", "--dry-run")
    assert [line.split()[:3] for line in printed.splitlines()] == [
        ["would", "redrive", f"{each.id}:"] for each in kept
    ]
    assert duetime.json("undelivered", "redrive", kept[0].id, "--dry-run")["dry_run"] is True
    assert ports.queues.sent == []
    duetime("undelivered", "redrive", "--all", "--kind", "wake", "--limit", "5")
    assert ports.queues.sent == [("failures", request_for(kept[1].id))]
    duetime("undelivered", "redrive", "--all")
    assert len(ports.queues.sent) == 3


def test_nothing_to_redrive_is_said(duetime):
    assert duetime("undelivered", "redrive", "--all") == (0, "nothing to redrive\n", "")


@pytest.mark.parametrize("words", [(), ("u.1", "--all"), ("u.1", "--kind", "wake"), ("--all", "--kind", "x")])
def test_bad_usage_is_told_in_one_line(duetime, words):
    status, _, told = duetime("undelivered", "redrive", *words)
    assert status == 2
    assert len(told.splitlines()) == 1


def test_the_kinds_that_may_be_said_are_those_there_are():
    assert set(KINDS) == {each.value for each in UndeliveredKind}
