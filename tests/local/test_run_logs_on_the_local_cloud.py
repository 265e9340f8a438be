"""The local cloud keeps what its handlers log, and shows it with the attempt; also its traceback."""

import json
import logging
from datetime import timedelta
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

from duetime import App, Payload, RetryPolicy, Run
from duetime.local import LocalCloud, LocalOptions
from tests.local.conftest import SHORT, eventually, settled

CARD, MASKED = "4111111111111111", "[redacted]"
SEEN = CARD
"""A line of `run.log` is shown in full to a caller with ``payloads:read``."""


class Charge(Payload, sensitive=("card",)):
    card: str = CARD


def shop():
    app = App()

    @app.action(retry=RetryPolicy(attempts=1))
    def charge(payload: Charge, run: Run) -> None:
        run.log.info("charging %s", payload.card)
        raise ConnectionError(f"{payload.card} was declined")

    return app


def read(cloud, path, tenant="acme"):
    url, headers = f"{cloud.url}/api/v1/actions/{path}", {"X-Duetime-Tenant": tenant}
    request = Request(url, headers=headers)  # noqa: S310 - of this machine
    with urlopen(request) as response:  # noqa: S310 - of this machine
        return json.load(response)


@pytest.fixture
def failed(caplog):
    """A cloud, and an action of it that has failed."""
    caplog.set_level(logging.INFO, "duetime")
    with LocalCloud(shop(), LocalOptions(settings=SHORT)) as cloud:
        yield cloud, settled(cloud, cloud.scheduler().schedule(Charge(), at=timedelta(0)))


def test_an_attempt_has_its_lines_and_its_traceback_without_secrets(failed):
    cloud, action = failed

    def ended():
        log = read(cloud, f"{action.id}/log")
        return log if any("failed" in line["message"] for line in log["items"]) else None

    log = eventually(ended, "the line of the end")
    assert f"charging {SEEN}" in [line["message"] for line in log["items"]]
    raised = next(line for line in log["items"] if line["message"] == "handler raised")
    assert f"ConnectionError: {MASKED} was declined" in raised["exception"]
    assert (log["attempt"], log["is_complete"], log["trace_url"]) == (1, True, None)
    (traceback,) = eventually(lambda: read(cloud, f"{action.id}/tracebacks")["items"], "its traceback")
    assert traceback["text"].endswith(f"ConnectionError: {MASKED} was declined")
    assert CARD not in json.dumps([traceback, raised])


def test_another_tenant_reads_neither(failed):
    cloud, action = failed
    for path in ("log", "tracebacks"):
        with pytest.raises(HTTPError) as refused:
            read(cloud, f"{action.id}/{path}", tenant="globex")
        assert refused.value.code == 404
        refused.value.close()


def test_a_cloud_that_has_stopped_keeps_no_further_lines(failed):
    cloud, _ = failed
    before = [*logging.getLogger("duetime").handlers]
    cloud.stop()
    assert len(logging.getLogger("duetime").handlers) == len(before) - 1
