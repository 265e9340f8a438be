"""A changed condition on its way to DynamoDB, and one that no request has."""

import pytest

from tests.mutation import wire
from tests.mutation.instrument import mark
from tests.mutation.mutant import Mutant
from tests.mutation.report import print_report
from tests.mutation.results import STALE, Result

SITE = "aws.notifications:_inbox_query:Filter"


def request_for(kinds):
    """Return a read of notifications of so many kinds."""
    names = [f":kind{number}" for number in range(kinds)]
    text = mark(f"kind IN ({', '.join(names)}) AND attribute_not_exists(read_at)", SITE)
    values = {name: {"S": "x"} for name in (":before", *names)}
    return {"FilterExpression": text, "ExpressionAttributeValues": values}


@pytest.mark.parametrize("kinds", [3, 7, 12])
def test_a_numbered_list_is_one_condition_however_long_it_is(kinds, monkeypatch):
    monkeypatch.setattr(wire, "seen", set())
    wire.Wire().changed("Query", request_for(kinds))
    text = "kind IN (:kind0, :kind1, :more) AND attribute_not_exists(read_at)"
    assert wire.seen == {(SITE, text, ((":before", "S"), (":kind0", "S"), (":kind1", "S")))}


@pytest.mark.parametrize("kinds", [1, 2])
def test_a_list_of_one_or_two_is_its_own_condition(kinds, monkeypatch):
    monkeypatch.setattr(wire, "seen", set())
    request = request_for(kinds)
    wire.Wire().changed("Query", request)
    assert {text for _, text, _ in wire.seen} == {str(request["FilterExpression"])}


def test_a_mutant_of_a_numbered_list_keeps_its_further_operands():
    changing = wire.Wire()
    changing.mutant = (
        SITE,
        "kind IN (:kind0, :kind1, :more) AND attribute_not_exists(read_at)",
        "kind IN (:before, :kind1, :more)",
    )
    changed = changing.changed("Query", request_for(4))
    assert changed["FilterExpression"] == "kind IN (:before, :kind1, :kind2, :kind3)"
    assert set(changed["ExpressionAttributeValues"]) == {":before", ":kind1", ":kind2", ":kind3"}
    assert changing.has_changed


def test_a_mutant_of_a_condition_that_is_not_sent_has_changed_nothing():
    changing = wire.Wire()
    changing.mutant = (SITE, "kind = :kind", "")
    request = request_for(4)
    assert changing.changed("Query", request) == request
    assert not changing.has_changed


def test_a_stale_condition_fails_the_run_and_names_the_command_that_renews_the_list(capsys):
    killed = Result(Mutant(SITE, "drop the condition"), "tests/contract/test_notifications.py::test_x")
    stale = Result(Mutant(SITE, "kind = :kind → none", ("", "", "")), STALE)
    assert print_report([killed], {}) == 0
    assert print_report([killed, stale], {}) == 1
    printed = capsys.readouterr().out
    assert f"STALE: {SITE} | kind = :kind → none" in printed
    assert "`python -m tests.mutation --record`" in printed
    assert "100.0% of 1 mutants killed" in printed
    assert "0 survived, 1 are stale" in printed
    assert "NOT EXPLAINED" not in printed
