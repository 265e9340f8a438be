"""``duetime limits``: list, set, reset."""

from duetime.cli.parser import expand


def test_list_set_and_reset(duetime):
    status, out, _ = duetime("limits")
    assert status == 0
    lines = out.splitlines()
    assert lines[0].split("  ")[0] == "TYPE"
    assert " ".join(lines[1].split()) == "remark type" + 2 * " 1000 a second, 1000 at once" + " -"
    status, out, _ = duetime("limits", "remark", "30", "--per", "10s", "--burst", "2")
    assert (status, out) == (0, "remark: 30 in 10 s, 2 at once; it holds within five seconds\n")
    assert "30 in 10 s, 2 at once" in duetime("limits")[1]
    assert duetime("limits", "remark", "reset")[1] == "remark: 1000 a second, 1000 at once, as in code\n"


def test_limits_without_a_command_lists_them(duetime):
    listed = duetime("limits")
    assert listed[0] == 0
    assert duetime("actions", "limits") == listed
    assert duetime("limits", "--json") == duetime("--json", "limits")
    status, _, error = duetime("limits", "remark")
    assert (status, "give the limit of remark, as in 100 --per minute, or reset" in error) == (2, True)
    assert expand(["limits"]) == ["actions", "limits"]
    assert "the limit in code holds again" in duetime.bare("limits", "--help")[1]


def test_the_limit_is_a_number_in_a_period(duetime):
    status, _, error = duetime("limits", "remark", "many")
    assert status == 2
    assert "many" in error
    status, _, error = duetime("limits", "remark", "0")
    assert status == 1
    assert "rate is 0; allowed is a whole number of starts from 1" in error


def test_a_type_without_a_rate_is_named(duetime):
    status, _, error = duetime("limits", "doomed", "10")
    assert status == 1
    assert "no type 'doomed' declares a rate; those that do: remark" in error
