"""Each guard of the table is a test, in the lane in which the checks run it."""

import pytest

from tests.mutation import guards

KILLERS = {"b | drop g()": "tests/x.py::test_b", "a | drop f()": "tests/x.py::test_a"}


@pytest.mark.parametrize(
    ("marks", "lane"),
    [
        (set(), "test"),
        ({"parametrize", "usefixtures"}, "test"),
        ({"moto_too"}, "contract"),
        ({"dynamodb_local", "parametrize"}, "contract"),
        ({"long"}, "proof"),
        ({"long", "nightly"}, "nightly"),
    ],
)
def test_a_guard_runs_in_the_lane_of_its_marks(marks, lane):
    assert guards.lane_of(marks) == lane


def test_the_table_has_a_line_for_each_mutant_in_their_order():
    lanes = {"tests/x.py::test_a": "test", "tests/x.py::test_b": "proof"}
    assert guards.table_of(KILLERS, lanes).splitlines() == [
        "mutant,test,lane",
        "a | drop f(),tests/x.py::test_a,test",
        "b | drop g(),tests/x.py::test_b,proof",
    ]


def test_the_table_has_each_removed_guard_and_each_kind_of_world_once():
    proof = "tests/proof/test_x.py::test_"
    lanes = {f"{proof}worlds[{seed}]": "proof" for seed in (0, 25, 100_000)}
    lanes |= {f"{proof}without[1: a lease lives]": "test", f"{proof}one": "test"}
    assert guards.table_of({}, lanes).splitlines()[1:] == [
        f",{proof}one,test",
        f",{proof}without[1: a lease lives],test",
        f",{proof}worlds,proof",
    ]


def test_a_guard_that_is_gone_fails_the_run_and_keeps_the_table(monkeypatch, capsys, tmp_path):
    monkeypatch.setattr(guards, "read_killers", lambda: KILLERS)
    monkeypatch.setattr(guards, "lanes_of", lambda _tests: {"tests/x.py::test_a": "test"})
    monkeypatch.setattr(guards, "TABLE", tmp_path / "guards.csv")
    assert guards.main() == 1
    printed = "MISSING: tests/x.py::test_b, which notices 1 mutants in tests/mutation/killers.json\n"
    assert capsys.readouterr().out == printed
    assert not (tmp_path / "guards.csv").exists()


def test_a_changed_table_is_written_and_fails_the_run_once(monkeypatch, capsys, tmp_path):
    monkeypatch.setattr(guards, "read_killers", lambda: {**KILLERS, "c | drop h()": "timed out"})
    monkeypatch.setattr(guards, "lanes_of", lambda tests: dict.fromkeys(tests, "test"))
    monkeypatch.setattr(guards, "TABLE", tmp_path / "guards.csv")
    assert [guards.main(), guards.main()] == [1, 0]
    assert capsys.readouterr().out.count(guards.RENEWED) == 1
