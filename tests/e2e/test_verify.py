"""`duetime deployment verify` on a stack: its probes pass, and it reports what the emulator lacks."""

import json

import pytest

from duetime.cli import main
from tests.e2e.deployment import PREFIX
from tests.e2e.test_api import client_of
from tests.e2e.test_api import people as people  # noqa: PLC0414 - fixtures
from tests.e2e.test_api import tokens as tokens  # noqa: PLC0414

pytestmark = pytest.mark.e2e

LATE = "at second boundaries (default)"


@pytest.fixture
def verified(bench, people, tokens, capsys):
    """The JSON that it prints with every option, and its exit status."""
    bench.client("sns").subscribe(
        TopicArn=bench.deployment.outputs["Alarms"],
        Protocol="sqs",
        Endpoint="arn:aws:sqs:eu-west-1:123456789012:recipients",
    )
    url = client_of(bench, "Api").url
    token = tokens("olga@acme.example", "admins")["IdToken"]
    words = ["--far", "--chaos", "--yes", "--notify", "--prefix", PREFIX, "--json"]
    status = main(["deployment", "verify", "--url", url, "--token", token, *words])
    return status, json.loads(capsys.readouterr().out)


def test_every_check_passes_but_the_sign_in_which_the_emulator_serves_elsewhere(verified, bench):
    status, document = verified
    checks = {check["name"]: check for check in document["checks"]}
    failed = {name: check["actual"] for name, check in checks.items() if check["state"] == "failed"}
    late = failed.pop(LATE, "10 runs, at most")  # the emulator feeds one function at a time
    assert late.startswith("10 runs, at most")
    assert failed == {"sign-in": "issuer: no response; sign-in page: no response"}
    assert (status, document["status"]) == (1, "failed")
    assert {"far ahead (default)", "its worker dies (default)", "a dead letter is notified (default)"} <= {
        *checks
    }
    assert document["measures"]["timer_lateness"] >= 0
    rows = bench.scheduler.list(correlation_id=document["correlation_id"], limit=100)
    assert {row.status.value for row in rows} == {"executed", "cancelled"}
