"""A changed condition on its way to DynamoDB, and one that no request has."""

import pytest

from tests.mutation import wire
from tests.mutation.condition_text import mutants
from tests.mutation.instrument import mark
from tests.mutation.mutant import Mutant
from tests.mutation.report import print_report
from tests.mutation.results import STALE, Result

SITE = "aws.notifications:_inbox_query:Filter"


def request_for(kinds):
    """Return a read of notifications of so many kinds."""
    names = [f":kind{number}" for number in range(kinds)]
    text = mark(" OR ".join(f"(kind = {name} AND attribute_not_exists(read_at))" for name in names), SITE)
    values = {name: {"S": "x"} for name in (":before", *names)}
    return {"FilterExpression": text, "ExpressionAttributeValues": values}


ONE, TWO = (f"(kind = :kind{number} AND attribute_not_exists(read_at))" for number in ("", "2"))


@pytest.mark.parametrize(
    ("kinds", "text"),
    [(1, ONE), (2, f"{ONE} OR {TWO}"), *((kinds, f"{ONE} OR {TWO} OR :more") for kinds in (3, 7, 12))],
)
def test_the_third_and_further_alternatives_are_one_condition(kinds, text, monkeypatch):
    monkeypatch.setattr(wire, "seen", set())
    wire.Wire().changed("Query", request_for(kinds))
    types = tuple((name, "S") for name in (":before", ":kind", ":kind2")[: 1 + kinds])
    assert wire.seen == {(SITE, text, types)}
    assert "drop :more" not in mutants(text, {}).values()


def test_a_mutant_of_one_alternative_keeps_the_further_ones():
    changing = wire.Wire()
    changing.mutant = (SITE, f"{ONE} OR {TWO} OR :more", "kind = :before OR :more")
    changed = changing.changed("Query", request_for(4))
    rest = " OR ".join(f"(kind = :kind{number} AND attribute_not_exists(read_at))" for number in (2, 3))
    assert changed["FilterExpression"] == f"kind = :before OR {rest}"
    assert set(changed["ExpressionAttributeValues"]) == {":before", ":kind2", ":kind3"}
    assert changing.has_changed


@pytest.mark.parametrize(("capacity", "window"), [(5, 60), (2_000, 1)])
def test_the_numbers_in_names_make_no_other_condition(capacity, window, monkeypatch):
    monkeypatch.setattr(wire, "seen", set())
    started, most = f"#started_{capacity}_{window}", f":started_{capacity}_{window}0"
    values = {most: {"N": "4"}, ":rate0": {"N": "1"}, ":rate1": {"N": "2"}}
    request = {
        "ConditionExpression": mark(f"({started} <= {most}) OR :rate1 < :rate0", SITE),
        "ExpressionAttributeNames": {started: "started"},
        "ExpressionAttributeValues": values,
    }
    wire.Wire().changed("UpdateItem", request)
    form = "(#started <= :started) OR :rate < :rate2"
    assert wire.seen == {(SITE, form, ((":rate", "N"), (":rate2", "N"), (":started", "N")))}
    changing = wire.Wire()
    changing.mutant = (SITE, form, "#started <= :rate2")
    changed = changing.changed("UpdateItem", request)
    assert changed["ConditionExpression"] == f"{started} <= :rate0"
    assert changed["ExpressionAttributeValues"] == {":rate0": {"N": "1"}}


def test_a_mutant_with_a_value_that_the_request_lacks_has_changed_nothing():
    changing = wire.Wire()
    changing.mutant = (SITE, "kind IN (:kind) AND attribute_not_exists(read_at)", "kind IN (:owner)")
    request = request_for(1)
    assert changing.changed("Query", request) == request
    assert not changing.has_changed


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
