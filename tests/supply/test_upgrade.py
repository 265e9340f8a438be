"""Rows and messages of version 0.1.0 and of this one are readable by the other: during a deploy both run."""

import json
import shutil
import subprocess
import tarfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.supply.golden_rows import call
from tests.supply.project import ROOT

pytestmark = pytest.mark.long
"""Four processes; the suite reads the golden rows of each release instead."""

RELEASED = "9fa3342"
"""The commit whose package is 0.1.0."""


def run(*command, **options):
    return subprocess.run([*map(str, command)], check=False, capture_output=True, text=True, **options)  # noqa: S603


@pytest.fixture(scope="module")
def sources(tmp_path_factory):
    """The `src` folders of 0.1.0 and of this version."""
    folder = tmp_path_factory.mktemp("released")
    archive = folder / "src.tar"
    done = run(shutil.which("git"), "archive", f"--output={archive}", RELEASED, "src", cwd=ROOT)
    if done.returncode:
        if (
            run(shutil.which("git"), "rev-parse", "--is-shallow-repository", cwd=ROOT).stdout.strip()
            == "true"
        ):
            pytest.skip(f"a shallow clone lacks commit {RELEASED} (0.1.0); run `git fetch --unshallow`")
        pytest.fail(
            f"the clone lacks commit {RELEASED} (0.1.0); run `git fetch --unshallow`: {done.stderr.strip()}"
        )
    with tarfile.open(archive) as released:
        released.extractall(folder, filter="data")
    return {"0.1.0": folder / "src", "current": ROOT / "src"}


@pytest.fixture(scope="module")
def exchanges(sources, tmp_path_factory):
    """By writing and reading version: what the one wrote, and what the other read."""

    def exchange(versions):
        writer, reader = versions
        file = tmp_path_factory.mktemp(writer) / "rows.json"
        call(sources[writer], "write", file)
        return json.loads(file.read_text()), json.loads(call(sources[reader], "read", file))

    pairs = [("0.1.0", "current"), ("current", "0.1.0")]
    with ThreadPoolExecutor(2) as pool:
        return dict(zip(pairs, pool.map(exchange, pairs), strict=True))


@pytest.fixture(params=[("0.1.0", "current"), ("current", "0.1.0")], ids=" to ".join)
def exchange(request, exchanges):
    return exchanges[request.param]


def test_the_writing_version_stores_rows_of_every_kind(exchange):
    written, _ = exchange
    assert Counter(written["listed"].values()) == {"pending": 4, "failed": 1, "processing": 1}
    assert len(written["bodies"]) == 5
    assert written["tables"]["jobs"]


def test_lists_cursors_and_keys_are_readable(exchange):
    written, read = exchange
    assert read["listed"] == written["listed"]
    assert {*written["first_page"], *read["after_cursor"]} == {*written["listed"]}
    assert not {*written["first_page"]} & {*read["after_cursor"]}
    assert read["keyed"] == written["keyed"]


def test_jobs_are_readable_and_a_deploy_does_not_change_them(exchange):
    written, read = exchange
    assert read["definition"] == written["definition"]
    assert written["job_run"] in read["job_runs"]
    assert read["changes"] == []


def test_messages_rows_and_payloads_are_run_and_settled(exchange):
    written, read = exchange
    texts = ["crashing", "keyed", "nightly", "offloaded" + "x" * 11, "plain"]
    assert read["runs_of_messages"] == texts
    assert read["runs"] == sorted([*texts, "failing"])
    assert (read["cancelled"], read["redriven"]) == ("cancelled", "pending")
    ends = dict.fromkeys(written["listed"], "executed") | {written["later"]: "cancelled"}
    assert read["end"] == ends
