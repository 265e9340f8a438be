"""``duetime jobs backfill`` and the commands beside it: from the preview to the cancelled backfill."""

import json
from datetime import timedelta

import pytest

from duetime import Retry, Run
from tests.cli.conftest import shop_app

NIGHTLY = "billing-slow"
SPAN = ("--from", "-6d", "--until", "-1h")


@pytest.fixture
def app():
    """The shop with a job whose runs do not end."""
    app = shop_app()

    @app.job("daily 02:30 tz=Europe/Paris", name=NIGHTLY)
    def wait(run: Run) -> None:
        raise Retry(after=timedelta(hours=2))

    return app


def test_a_dry_run_prints_the_times_and_begins_nothing(duetime):
    status, printed, errors = duetime("jobs", "backfill", NIGHTLY, *SPAN, "--dry-run")
    assert (status, errors) == (0, "")
    lines = printed.splitlines()
    assert lines[-1] in {f"would run {n} of {n} nominal times, and leave out 0" for n in (len(lines) - 1,)}
    assert 5 <= len(lines) - 1 <= 7
    assert duetime("jobs", "backfill", NIGHTLY)[:2] == (0, "no backfills\n")


def test_a_backfill_is_begun_listed_paused_resumed_and_cancelled(duetime):
    status, printed, _ = duetime("jobs", "backfill", NIGHTLY, *SPAN, "--at-once", "2", "--order", "newest")
    assert status == 0
    begun = printed.split()[2].rstrip(":")
    listed = duetime("jobs", "backfill", NIGHTLY)[1].splitlines()
    assert listed[1].split()[:2] == [begun, "running"]
    assert "] 0 %" in listed[1]
    assert duetime("jobs", "backfill", NIGHTLY, "pause")[:2] == (
        0,
        f"paused backfill {begun}; 2 of its runs have not ended\n",
    )
    assert duetime("jobs", "backfill", NIGHTLY, "resume", begun)[0] == 0
    cancelled = json.loads(duetime("jobs", "backfill", NIGHTLY, "cancel", "--json")[1])
    assert (cancelled["state"], cancelled["at_once"], cancelled["order"]) == ("cancelled", 2, "newest")


def test_a_dry_run_names_the_times_left_out_unless_again(duetime):
    duetime("jobs", "backfill", NIGHTLY, "--from", "-6d", "--until", "-1h", "--at-once", "1")
    printed = duetime("jobs", "backfill", NIGHTLY, *SPAN, "--dry-run")[1]
    assert printed.count("left out: p") == 1  # pending, or processing
    assert printed.splitlines()[-1].endswith("and leave out 1")
    again = duetime("jobs", "backfill", NIGHTLY, *SPAN, "--dry-run", "--again")[1]
    assert again.splitlines()[-1].endswith("and leave out 0")


def test_wrong_input_is_rejected_with_what_is_right(duetime):
    status, _, errors = duetime("jobs", "backfill", NIGHTLY, "--from", "-1h", "--at-once", "101")
    assert (status != 0, "use 1 to 100" in errors) == (True, True)
    status, _, errors = duetime("jobs", "backfill", NIGHTLY, "--from", "-1h", "--until", "2h")
    assert (status != 0, "is in the future" in errors) == (True, True)
    status, _, errors = duetime("jobs", "backfill", "billing-rebuild", *SPAN)
    assert (status != 0, "it has no nominal times" in errors) == (True, True)
    status, _, errors = duetime("jobs", "backfill", NIGHTLY, "cancel")
    assert (status != 0, "no unfinished backfill" in errors) == (True, True)
