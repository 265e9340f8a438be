"""``duetime dead-letters``: correlation ids, groups by error, and dismissals."""

import json
import shlex

import pytest

from duetime.cli import main
from duetime.cli.actions import MOST_PAGES, grouped
from duetime.model.error_pattern import error_pattern


@pytest.fixture
def fail(duetime):
    """Return a function that runs an action which fails, and returns its id."""

    def failed(correlation_id):
        duetime("schedule", "doomed", "--correlation-id", correlation_id, "--watch")
        return duetime.json("actions", "list", "--correlation-id", correlation_id)["items"][-1]["id"]

    return failed


def letter(number, reason, at="2026-03-01T12:00:00Z", type_="remark"):
    """A dead letter as the API returns it."""
    attempts = [{"number": 1, "finished_at": at}]
    return {
        "id": f"id-{number}",
        "type": type_,
        "job": None,
        "failure_reason": reason,
        "due_at": "2026-01-01T00:00:00Z",
        "attempts": attempts,
        "correlation_id": None,
    }


def test_the_list_has_correlation_ids_and_filters_by_them(duetime, fail):
    fail("order:7")
    fail("order:8")
    _, printed, _ = duetime("dead-letters", "list")
    assert "order:7" in printed
    assert "order:8" in printed
    _, printed, _ = duetime("dead-letters", "list", "--correlation-id", "order:7")
    assert "order:7" in printed
    assert "order:8" not in printed


def test_dead_letters_are_grouped_by_error(duetime, fail):
    ids = [fail("order:7"), fail("order:8")]
    status, printed, errors = duetime("dead-letters", "list", "--group-by", "error")
    head, line, blank, summary = printed.splitlines()
    assert (status, errors, blank) == (0, "", "")
    assert head.split("  ")[0] == "COUNT"
    assert line.startswith("2      doomed")
    assert ids[1] in line
    assert "was stolen" in line
    assert summary == "2 dead letters read, on 1 page; there are no more"
    document = duetime.json("dead-letters", "list", "--group-by", "error")
    [group] = document["groups"]
    assert (group["count"], group["example"]) == (2, ids[1])
    assert (document["dead_letters"], document["pages"], document["next_cursor"]) == (2, 1, None)


def test_without_dead_letters_there_are_no_groups(duetime):
    status, printed, _ = duetime("dead-letters", "list", "--group-by", "error")
    assert (status, printed) == (0, "no dead letters\n")


def test_a_grouping_that_stops_at_its_bound_prints_the_command_that_continues(serve, capsys):
    read = []

    def answer(_method, _path, query, _headers, _body):
        number = int(query.get("cursor", 0))
        read.append(query["type"])
        page = {"items": [letter(number, "no bank")], "next_cursor": str(number + 1)}
        return 200, "application/json", json.dumps(page)

    words = ["dead-letters", "list", "--type", "T", "--group-by", "error", "--url", serve(answer)]
    assert main(words) == 0
    summary = capsys.readouterr().out.splitlines()[-1]
    start, _, more = summary.partition("more may exist: duetime ")
    assert start == f"{MOST_PAGES} dead letters read, on {MOST_PAGES} pages; "
    assert read == ["T"] * MOST_PAGES
    assert main(shlex.split(more)) == 0
    assert f"id-{MOST_PAGES} " in capsys.readouterr().out


def test_a_group_has_its_count_its_first_its_last_and_the_latest_as_the_example():
    letters = [
        letter(1, "order 17 of 'ada' is gone", "2026-03-01T12:00:00Z"),
        letter(2, "order 18 of 'bob' is gone", "2026-03-03T12:00:00Z"),
        letter(3, "order 19 of 'eve' is gone", "2026-03-02T12:00:00Z"),
        letter(4, "no bank", "2026-03-04T12:00:00Z"),
        letter(5, "no bank", "2026-03-05T12:00:00Z", "other"),
    ]
    first, *others = grouped(letters)
    assert first == {
        "error": "order … of … is gone",
        "type_or_job": "remark",
        "count": 3,
        "first_at": "2026-03-01T12:00:00Z",
        "last_at": "2026-03-03T12:00:00Z",
        "example": "id-2",
    }
    assert [(group["error"], group["type_or_job"]) for group in others] == [
        ("no bank", "other"),
        ("no bank", "remark"),
    ]


@pytest.mark.parametrize(
    ("reason", "pattern"),
    [
        ("", ""),
        ("Timeout: no bank", "Timeout: no bank"),
        ("KeyError: 'order-17'", "KeyError: …"),
        ("GET https://bank.example/a?b=1 got 503", "GET … got …"),
        ("no action 01983b5e-7c00-7a3c-9f21-5d0c8e4b7a16", "no action …"),
        ("ada@acme.example, bob@acme.example unknown", "… unknown"),
        ("two\n lines", "two lines"),
    ],
)
def test_an_error_is_compared_without_what_differs(reason, pattern):
    assert error_pattern(reason) == pattern


def test_a_dismissed_dead_letter_leaves_the_list_and_stays_failed(duetime, fail):
    dismissed, other = fail("order:7"), fail("order:8")
    status, printed, errors = duetime("dead-letters", "dismiss", dismissed, "--reason", "refunded by hand")
    assert (status, printed, errors) == (0, f"dismissed {dismissed}: refunded by hand\n", "")
    assert [item["id"] for item in duetime.json("dead-letters", "list")["items"]] == [other]
    _, printed, _ = duetime("actions", "show", dismissed)
    assert printed.splitlines()[0] == f"{dismissed}  doomed  failed"
    assert "  dismissed       by developer: refunded by hand" in printed
    newest = duetime.json("access", "audit", "--action", dismissed)["items"][0]
    assert (newest["operation"], newest["request_fields"]) == ("dismiss", {"reason": "refunded by hand"})


def test_a_dismissed_action_is_not_redriven_with_the_others_but_by_its_id(duetime, fail):
    dismissed = fail("order:7")
    duetime("dead-letters", "dismiss", dismissed, "--reason", "done")
    assert duetime("dead-letters", "redrive", "--all", "--yes") == (0, "redriven 0 actions\n", "")
    status, printed, _ = duetime("dead-letters", "redrive", dismissed)
    assert status == 0
    assert printed.startswith(f"redriven {dismissed}")


def test_several_are_dismissed_and_those_that_cannot_be_are_named(duetime, fail):
    failed, pending = fail("order:7"), duetime.json("schedule", "remark", "--in", "1d")["id"]
    status, printed, errors = duetime("dead-letters", "dismiss", failed, pending, "--reason", "done")
    assert status == 1
    assert printed == f"dismissed {failed}: done\n"
    assert "it is pending, and only a failed one that is not dismissed can be" in errors


@pytest.mark.parametrize(("words", "status"), [((), 2), (("--reason", " "), 1)])
def test_a_dismissal_needs_a_reason(duetime, fail, words, status):
    failed = fail("order:7")
    assert duetime("dead-letters", "dismiss", failed, *words)[0] == status
    assert [item["id"] for item in duetime.json("dead-letters", "list")["items"]] == [failed]
