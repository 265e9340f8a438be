"""A list does not say that there is nothing while there may be more."""

import json

from duetime.cli import main


def pages(serve, last=None):
    """Serve empty pages, each with a cursor; the page `last` has none."""

    def answer(_method, _path, query, _headers, _body):
        number = int(query.get("cursor", 0))
        following = None if number == last else str(number + 1)
        return 200, "application/json", json.dumps({"items": [], "next_cursor": following})

    return serve(answer)


def test_a_list_reads_on_past_empty_pages(serve, capsys):
    assert main(["dead-letters", "list", "--url", pages(serve, last=3)]) == 0
    assert capsys.readouterr().out == "no dead letters\n"


def test_a_list_that_stops_at_its_bound_prints_the_command_that_continues(serve, capsys):
    assert main(["dead-letters", "list", "--type", "T", "--url", pages(serve)]) == 0
    first, more = capsys.readouterr().out.splitlines()
    assert first == "none on the pages read"
    assert more.startswith("more: duetime dead-letters list --type T")
    assert "--cursor 21" in more


def test_a_scan_prints_how_many_actions_it_compared_and_keeps_its_filters(serve, capsys):
    queries = []

    def answer(_method, _path, query, _headers, _body):
        queries.append(query)
        scanned = {"rows": 500, "until": "2027-06-01T09:00:00Z"}
        page = {"items": [], "next_cursor": str(len(queries)), "scanned": scanned}
        return 200, "application/json", json.dumps(page)

    command = [
        "actions",
        "list",
        "--payload",
        "customer=42",
        "--payload",
        "order.id=a b",
        "--error",
        "no bank",
    ]
    assert main([*command, "--url", serve(answer)]) == 0
    _, compared, more = capsys.readouterr().out.splitlines()
    assert compared.startswith(f"{500 * len(queries)} actions compared, up to 2027-06-01T09:00:00Z")
    assert "--payload customer=42 --payload 'order.id=a b'" in more
    assert queries[0]["error"] == "no bank"
