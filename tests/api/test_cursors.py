"""A cursor continues its own list alone: of the same tenant, operation, path and filters."""

from tests.api.conftest import ADA

GLOBEX = {**ADA, "custom:tenant_id": "globex"}


def first_page(call, **query):
    return call("query", query={"limit": "1", **query}).json["next_cursor"]


def assert_rejected(response):
    assert (response.status, response.code) == (422, "invalid-cursor"), response.text
    assert [flaw["where"] for flaw in response.json["errors"]] == ["cursor"]


def test_a_cursor_of_another_filter_tenant_or_list_is_rejected(call):
    for _ in range(3):
        call.schedule()
        call.schedule(claims=GLOBEX)
    cursor = first_page(call)
    for query in (
        {"status": "pending"},
        {"type": "apply-plan-change"},
        {"created_after": "2001-01-01T00:00:00Z"},
    ):
        assert_rejected(call("query", query={"cursor": cursor, **query}))
    assert_rejected(call("query", query={"cursor": cursor}, claims=GLOBEX))
    assert_rejected(call("dead-letters", query={"cursor": cursor}))
    assert_rejected(call("cancel-many", body={"type": "remark", "cursor": cursor}))
    bare = cursor.rpartition(".")[0]
    assert_rejected(call("query", query={"cursor": bare}))


def test_a_cursor_continues_its_list_with_another_page_size(call):
    ids = {call.schedule()["id"] for _ in range(4)}
    page = call("query", query={"limit": "1", "status": "pending"}).json
    rest = call("query", query={"limit": "3", "status": "pending", "cursor": page["next_cursor"]}).json
    assert {item["id"] for item in (*page["items"], *rest["items"])} == ids
    assert rest["next_cursor"] is None


def test_a_step_of_one_change_does_not_continue_another(call):
    for _ in range(3):
        call.schedule()
    step = call("cancel-many", body={"type": "apply-plan-change", "limit": 1}).json
    assert_rejected(call("cancel-many", body={"type": "other", "limit": 1, "cursor": step["next_cursor"]}))
    assert_rejected(call("redrive-many", body={"type": "apply-plan-change", "cursor": step["next_cursor"]}))
    following = call(
        "cancel-many", body={"type": "apply-plan-change", "limit": 1, "cursor": step["next_cursor"]}
    ).json
    assert following["changed"] != step["changed"]
