"""``duetime pause``, ``resume`` and ``pauses``."""

import pytest


def test_a_type_is_paused_listed_and_resumed(duetime):
    assert duetime("pauses")[1] == "nothing is paused\n"
    status, out, error = duetime("pause", "--type", "remark", "--reason", "SES is down", "--for", "2h")
    assert status == 0, error
    assert out.startswith("paused type remark until ")
    assert out.endswith("it holds within five seconds\n")
    words = ("--reason", "a drill", "--spread", "30m", "--skip")
    assert duetime("pause", "--concurrency-key", "smtp", *words)[0] == 0
    listed = duetime("pauses")[1].splitlines()[1:]  # both may begin within one millisecond
    [of_type] = [line for line in listed if "type remark" in line]
    [of_key] = [line for line in listed if "concurrency-key smtp" in line]
    assert of_type.endswith("SES is down")
    assert " skip " in of_key
    assert duetime("resume", "--type", "remark")[1].startswith(
        "resumed type remark; what waits begins until "
    )
    status, _, error = duetime("resume", "--type", "remark")
    assert status == 1
    assert "no such pause is in force" in error


def test_one_of_several_pauses_is_resumed_by_its_id(duetime):
    for reason in ("one", "two"):
        duetime("pause", "--worker", "default", "--reason", reason)
    first, second = duetime.json("pauses")["items"]
    assert duetime("resume", first["id"])[0] == 0
    in_force = [item for item in duetime.json("pauses")["items"] if item["ended_at"] is None]
    assert [item["id"] for item in in_force] == [second["id"]]


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (["pause", "--reason", "x"], "--type"),
        (["pause", "--type", "remark"], "--reason"),
        (["pause", "--type", "remark", "--worker", "default", "--reason", "x"], "not allowed with"),
        (["pause", "--type", "remark", "--reason", "x", "--spread", "soon"], "soon"),
        (["resume"], "--type"),
    ],
)
def test_bad_usage_is_named(duetime, words, part):
    status, _, error = duetime(*words)
    assert status == 2
    assert part in error
