"""The lanes of `.ci/run` run side by side, each once."""

import pytest

from tools import lanes
from tools.lanes import Lane, run_all


@pytest.fixture(autouse=True)
def logs(tmp_path, monkeypatch):
    monkeypatch.setattr(lanes, "LOGS", tmp_path)
    return tmp_path


def test_each_lane_runs_once_and_a_failed_one_stops_none(tmp_path):
    done = tmp_path / "done"
    program = f"open('{done}', 'a').write('NAME '); raise SystemExit(CODE)"
    made = [
        Lane(name, f'python -c "{program.replace("NAME", name).replace("CODE", str(code))}"')
        for name, code in (("a", 0), ("b", 3), ("c", 0), ("d", 0))
    ]
    run_all(made)
    assert sorted(done.read_text().split()) == ["a", "b", "c", "d"]
    assert [lane.code for lane in made] == [0, 3, 0, 0]


def test_a_lane_begins_when_any_other_ends(tmp_path):
    """The first ends only when the last, which comes third in the other row, has begun."""
    has_begun = tmp_path / "begun"
    waits = f"import os, time\nwhile not os.path.exists('{has_begun}'): time.sleep(0.01)"
    begins = f"open('{has_begun}', 'w')"
    made = [
        Lane("first", f'python -c "{waits}"'),
        Lane("second", 'python -c "1"'),
        Lane("third", 'python -c "1"'),
        Lane("last", f'python -c "{begins}"'),
    ]
    run_all(made)
    assert [lane.code for lane in made] == [0] * 4
