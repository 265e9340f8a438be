"""The command `duetime deployment verify` against a running local cloud, and its bad input."""

import io
import json
from datetime import timedelta

import pytest

from duetime.cli import main
from duetime.settings import Settings
from tests.emulated import EmulatedCloud, EmulatedOptions
from tests.verify.conftest import app

SHORT = Settings(
    near_limit=timedelta(seconds=10),
    wake_early=timedelta(seconds=5),
    lease=timedelta(seconds=4),
    heartbeat=timedelta(seconds=1),
    cancel_poll=timedelta(seconds=0.5),
    clock_skew=timedelta(seconds=1),
)


def words_of(capsys, *words):
    try:
        status = main(["deployment", "verify", *words])
    except SystemExit as ended:
        status = ended.code
    return status, *capsys.readouterr()


def test_chaos_needs_a_confirmation(capsys, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO("yes\n"))
    status, _, errors = words_of(capsys, "--chaos")
    assert status == 2
    assert "There is no terminal to confirm it; add --yes" in errors


def test_without_a_scheduler_the_message_names_what_to_start(capsys):
    status, _, errors = words_of(capsys, "--url", "http://127.0.0.1:9")
    assert status == 1
    assert "no scheduler responds at http://127.0.0.1:9" in errors


@pytest.mark.long
def test_a_local_cloud_passes_as_text_and_as_json_and_a_broken_one_fails(capsys):
    with EmulatedCloud(app(), EmulatedOptions(settings=SHORT)) as cloud:
        status, printed, _ = words_of(capsys, "--url", cloud.url)
        assert status == 0, printed
        assert "at second boundaries (default)            ok" in printed
        assert "lateness of 14 runs" in printed
        assert "delays of SQS   end in phase with the send" in printed
        status, printed, _ = words_of(
            capsys, "--url", cloud.url, "--json", "--far", "--chaos", "--yes", "--notify"
        )
        document = json.loads(printed)
        assert status == 0, printed
        assert document["status"] == "ok"
        assert document["measures"]["timer_lateness"] is not None
        assert {check["state"] for check in document["checks"]} == {"ok", "skipped"}
        cloud.redeploy(enabled=False)
        status, _, errors = words_of(capsys, "--url", cloud.url)
        assert (status, "the global switch is off" in errors) == (1, True)
