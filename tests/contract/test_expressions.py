"""The list of tests that send each expression to moto is complete, and the tests in it exist."""

import pytest

from tests.contract import expressions
from tests.contract.conftest import COLLECTED, MOTO
from tests.contract.on_moto import cover


def test_each_listed_test_exists_and_runs_over_moto(request):
    named = {*expressions.listed().values()}
    assert all(MOTO in name for name in named)
    collected = request.config.stash[COLLECTED]
    files = {name.partition("::")[0] for name in collected}
    missing = {name for name in named - collected if name.partition("::")[0] in files}
    if missing and any("::" in argument for argument in request.config.args):
        pytest.skip("only some tests of these files are collected")
    assert missing == set(), f"no such tests: {expressions.RENEW}"


def test_an_expression_that_no_test_sends_to_moto_is_named_with_its_test(monkeypatch):
    monkeypatch.setattr(expressions, "sent", set())
    expressions.note("PutItem", {"ConditionExpression": "attribute_not_exists(pk)"})
    expressions.check("test_known")
    expressions.note("PutItem", {"ConditionExpression": "invented = :later"})
    with pytest.raises(AssertionError, match=r"test_new .* python -m .*PutItem.*: invented = :later"):
        expressions.check("test_new")


def test_a_listed_test_that_sends_its_expression_no_longer_fails(monkeypatch):
    text, name = next(iter(expressions.listed().items()))
    monkeypatch.setattr(expressions, "sent", {*expressions.listed()})
    expressions.check_moto(name)
    expressions.sent.remove(text)
    with pytest.raises(AssertionError, match="no longer sends to moto"):
        expressions.check_moto(name)


def test_expressions_are_noted_without_their_numbers_also_those_of_a_transaction(monkeypatch):
    monkeypatch.setattr(expressions, "sent", set())
    update = {"UpdateExpression": "SET a1 = :a1, b = :b", "ConditionExpression": "kind IN (:k0, :k1, :k2)"}
    expressions.note("TransactWriteItems", {"TransactItems": [{"Update": update}]})
    expressions.note("Query", {"KeyConditionExpression": "pk = :pk", "FilterExpression": "x = :x"})
    assert expressions.sent == {
        "TransactWriteItems, Update, UpdateExpression: SET a_ = :a_, b = :b",
        "TransactWriteItems, Update, ConditionExpression: kind IN (:k_, :k_, :k_)",
        "Query, KeyConditionExpression: pk = :pk",
        "Query, FilterExpression: x = :x",
    }


def test_the_cheapest_tests_cover_all_expressions():
    sent = {"dear": {"a", "b"}, "cheap": {"a"}, "other": {"b"}, "none": set()}
    assert cover(sent, {"dear": 9, "cheap": 1, "other": 1, "none": 0}) == {"a": "cheap", "b": "other"}
