"""Any path that changes an action or a job is filed under the target that the trail's filter finds."""

from unicodedata import normalize
from urllib.parse import quote

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from werkzeug.test import EnvironBuilder
from werkzeug.wrappers import Request

from duetime.local.gateway import proxy_event
from duetime.testing import TurnedClock
from tests.api.conftest import NOW, sample_event
from tests.api.deployment import Deployment
from tests.api.drawn import drawing, in_both_lanes
from tests.api.trail import OWN, STAFF, scheduled

ARN = "arn:aws:sts::123456789012:assumed-role/till/i-1"
IDENTITIES = {"arn:aws:iam::123456789012:role/till": "acme admins"}
JOB = "own-report"
PIECES = [
    *("/", "//", ".", "/.", "/..", ";", "?", "#", "%", " ", "%20", "+", "*", "~", "\\", "\n", "\x00", "\x7f"),
    *("%2e", "%2E", "%2f", "%2F", "%252f", "%25", "%0a", "%00", "%C3%A9", "é", "e\u0301", "\u200b", "\ufeff"),
    *(
        "\u2028",
        "\uff0e",
        "\uff0f",
        "\u2215",
        "ı",
        "K",
        "ſ",
        "A",
        "a",
        "-",
        "\udc80",
        "cancel",
        "pause",
        "..",
    ),
]

edits = st.lists(st.tuples(st.integers(0, 60), st.sampled_from(PIECES)), max_size=3)
spellings = st.sampled_from(
    [
        *(str, str.upper, str.title),
        lambda path: normalize("NFD", path),
        lambda path: quote(path, safe="", errors="surrogateescape"),
    ]
)


def edited(path, changes, spell):
    for at, piece in changes:
        path = path[: at % (len(path) + 1)] + piece + path[at % (len(path) + 1) :]
    return spell(path)


def people(path):
    return sample_event("cancel", httpMethod="POST", path=f"/api/v1{path}", claims=STAFF, body=None)


def custom_domain(path):
    """The base path is in `path` alone: the resource and its parameter are without it."""
    event = people(path)
    return event | {"path": f"/duetime{event['path']}"}


def services(path):
    event = sample_event("signed", httpMethod="POST", path=f"/api/v1{path}", body=None)
    event["requestContext"]["identity"] |= {"userArn": ARN, "user": "AROAEXAMPLE:i-1"}
    return event


def local_cloud(path):
    """The path as werkzeug decodes what a client sends."""
    builder = EnvironBuilder(path="/", method="POST")
    environ = builder.get_environ()
    environ["PATH_INFO"] = f"/api/v1{path}".encode("utf-8", "surrogateescape").decode("latin-1")
    event = proxy_event(Request(environ), now_ms=0)
    event["requestContext"]["authorizer"] = {"claims": STAFF}
    return event


def state_of(deployment, action_id):
    """What a change of either target changes."""
    job = deployment.ask("GET", f"/jobs/{JOB}", claims=STAFF).json
    action = deployment.ask("GET", f"/actions/{action_id}", claims=STAFF).json
    return {"action": action["modified_at"], "job": job["paused"]}


@in_both_lanes(40)
@pytest.mark.parametrize("gateway", [people, custom_domain, services, local_cloud])
def test_a_path_that_changes_something_is_filed_under_the_target_that_the_filter_finds(gateway, number):
    @drawing(number)
    @given(changes=edits, spell=spellings, is_job=st.booleans())
    @example(changes=[], spell=str, is_job=True)
    @example(changes=[], spell=str, is_job=False)
    @example(changes=[(200, "/")], spell=str, is_job=True)
    def check(changes, spell, is_job):
        deployment = Deployment(TurnedClock(NOW), identities=IDENTITIES)
        ask = lambda method, path, **more: deployment.ask(method, path, claims=STAFF, **more)  # noqa: E731
        ask("POST", "/jobs", body=OWN)
        made = scheduled(ask).json["id"]
        targets = {"job": JOB, "action": made}
        before = state_of(deployment, made)
        entries = {kind: len(_filed(deployment, kind, name)) for kind, name in targets.items()}
        deployment.clock.wait_until(deployment.clock.now().replace(second=30))

        path = edited(f"/jobs/{JOB}/pause" if is_job else f"/actions/{made}/cancel", changes, spell)
        response = deployment.send(gateway(path))

        after = state_of(deployment, made)
        for kind, name in targets.items():
            filed = _filed(deployment, kind, name)
            if after[kind] != before[kind]:
                assert len(filed) == entries[kind] + 1, (path, response)
                assert filed[0]["status"] == response.status < 300
        if response.status < 300 and not changes and spell is str:
            assert after != before

    check()


def _filed(deployment, kind, name):
    return deployment.ask("GET", "/audit", claims=STAFF, query={kind: name}).json["items"]
