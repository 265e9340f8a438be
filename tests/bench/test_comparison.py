"""The comparison with other schedulers: its requirements, its table, and the end of its processes."""

import re
from pathlib import Path

import pytest

from bench.report import show
from bench.result import Result
from rivals import servers
from rivals.contenders import EMBEDDED, other_schedulers, ours
from rivals.nights import nights
from rivals.works import burst

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/comparison.md").read_text()
LOCK = (ROOT / "rivals/requirements.txt").read_text()
WANTED = (ROOT / "rivals/requirements.in").read_text()


def cell(work, of, measured=None, words=""):
    return Result(bench="rivals", name=work, of=of, measured=measured, unit="", words=words)


@pytest.fixture
def embedded():
    [contender] = [our for our in ours(str) if our.name == EMBEDDED]
    return contender


def test_the_lock_pins_every_distribution_and_names_no_index_nor_address():
    lines = LOCK.splitlines()
    assert lines
    for line in lines:
        assert re.fullmatch(r"[\w.-]+==[\w.]+( ; .+)?", line), line


def test_the_page_names_the_locked_versions():
    for name, version in re.findall(
        r"^(apscheduler|celery|procrastinate|huey)\S*==(\S+)", WANTED, re.MULTILINE
    ):
        assert f"{name}=={version}\n" in LOCK
        assert re.search(rf"\[{name}\]\(\S+\) {re.escape(version)}", PAGE, re.IGNORECASE), name


def test_works_are_rows_and_contenders_are_columns(capsys):
    show("who", [cell("runs", "a", 2.0), cell("runs", "b", words="lost"), cell("late", "b", 0.5)])
    _, head, runs, late = [line.split() for line in capsys.readouterr().out.strip().splitlines()]
    assert head == ["a", "b"]
    assert runs == ["runs", "2", "lost"]
    assert late == ["late", "0.5"]


def test_contenders_without_their_server_are_left_out():
    here = other_schedulers(Path("python"), redis=None, relational=lambda: "postgresql://nowhere")
    assert {contender.name for contender in here} == {"APScheduler", "procrastinate"}


def test_a_missing_server_is_named_with_its_installation_command(monkeypatch):
    monkeypatch.setattr("shutil.which", lambda _name: None)
    with pytest.raises(servers.NotHere, match="apt-get install redis-server"), servers.redis():
        pass


def test_duetimes_cadences_are_computed_in_a_separate_process(embedded):
    words = {night.work: night.words for night in nights(embedded)}
    assert words["*/30 * * * * in Paris, 31 Oct 2027: runs"] == "50 of 50"
    assert words["0 0 31 2 *, which never comes"] == "refused NeverFires"


@pytest.mark.long
def test_every_run_is_recorded_and_none_is_early(embedded):
    with embedded.playing() as cast:
        [until_last, ran] = burst(cast)
        assert ran.figure == 500
        assert all(run["at"] >= run["due"] for run in cast.runs.read())
        assert until_last.figure >= 0


def test_a_contender_ends_with_the_bench(embedded):
    with embedded.playing() as cast:
        cast.client.popen.stdin.close()  # as the kernel does when the bench is killed
        assert cast.client.popen.wait() == 0
