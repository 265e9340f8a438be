"""The outbox over HTTP, in the terminal and from the command line."""

import json
import logging

import pytest
from werkzeug.test import Client

from duetime.cli import main
from duetime.console import ConsoleConfig, Site
from duetime.lambdas.metrics_buffer import BufferedMetric
from duetime.local import LocalCloud, LocalOptions
from duetime.local.metrics import Metrics
from duetime.local.outbox import KEPT, Outbox
from duetime.local.outbox_pages import OutboxPages
from duetime.local.run_lines import RunLines
from duetime.local.wsgi_app import WsgiApp
from duetime.model.action import Action
from duetime.model.metric import Metric
from duetime.settings import Settings
from tests.local.conftest import SHORT
from tests.local.test_notifications_on_the_local_cloud import FAILED, TO, app_of, fail, sent
from tests.local.test_one_port import request

pytestmark = pytest.mark.usefixtures("wide_terminal")


@pytest.fixture
def outbox():
    outbox = Outbox()
    for tenant, type_ in (("acme", "action.failed"), ("globex", "run.failed")):
        outbox.put_event(type_, id=f"e-{tenant}", detail={"tenant_id": tenant})
    for name in ("one", "two", "three"):
        outbox.put_mail(
            FAILED,
            address="ada@example.com",
            language="en",
            subject=f"<b>{name}</b>",
            text=f"text of {name}: é",
            html=f"<p>{name}: é</p>",
        )
    outbox.put_message(FAILED, subject="s", text="t", attributes={"tenant": "acme"})
    return outbox


@pytest.fixture
def browser(outbox):
    metrics = Metrics(Settings(), bool)
    metrics.take(
        [BufferedMetric([{"deployment": "duetime"}], {Metric.FAILED: [1.0], Metric.EXECUTED: [2.0]})]
    )
    return browser_of(outbox, metrics)


def browser_of(outbox, metrics):
    return Client(
        WsgiApp(
            None,
            None,
            {},
            OutboxPages(outbox, metrics),
            Site(ConsoleConfig("api/v1")),
        )
    )


def test_the_newest_come_first_up_to_the_limit(browser):
    items = browser.get("/outbox/mails?limit=2").json["items"]
    assert [(item["number"], item["text"]) for item in items] == [
        (3, "text of three: é"),
        (2, "text of two: é"),
    ]
    assert len(browser.get("/outbox/mails").json["items"]) == 3


def test_a_list_is_filtered_by_type(browser):
    (event,) = browser.get("/outbox/events?type=run.failed").json["items"]
    assert (event["id"], event["detail"], event["type"]) == (
        "e-globex",
        {"tenant_id": "globex"},
        "run.failed",
    )
    (message,) = browser.get(f"/outbox/messages?type={FAILED}").json["items"]
    assert message["attributes"] == {"tenant": "acme"}
    (metric,) = browser.get("/outbox/metrics?type=executed").json["items"]
    assert (metric["name"], metric["value"]) == ("executed", 2.0)
    assert browser.get("/outbox/mails?type=other").json["items"] == []


@pytest.mark.parametrize("limit", ["0", "1001", "-1", "x", ""])
def test_an_invalid_limit_is_rejected(browser, limit):
    assert browser.get(f"/outbox/events?limit={limit}").status_code == 400


def test_a_mail_is_served_unchanged_and_its_scripts_cannot_run(browser):
    response = browser.get("/outbox/mails/1")
    assert (response.text, response.content_type) == ("<p>one: é</p>", "text/html; charset=utf-8")
    policy = response.headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "script" not in policy
    text = browser.get("/outbox/mails/1.txt")
    assert (text.text, text.content_type) == ("<b>one</b>\n\ntext of one: é", "text/plain; charset=utf-8")


@pytest.mark.parametrize(
    "path", ["/mails/4", "/mails/0", "/mails/x", "/mails/1.pdf", "/nothing", "/events/1"]
)
def test_an_unknown_mail_or_list_is_a_404(browser, path):
    assert browser.get(f"/outbox{path}").status_code == 404


def test_the_page_links_to_the_lists_and_to_the_latest_mails(browser):
    page = browser.get("/outbox").text
    for path in ("events", "mails", "messages", "metrics", "mails/3", "mails/3.txt"):
        assert f'href="/outbox/{path}"' in page
    assert "&lt;b&gt;three" in page
    assert "<b>three" not in page
    assert "mails/" not in browser_of(Outbox(), Metrics(Settings(), bool)).get("/outbox/").text


def test_each_list_holds_the_latest_entries(outbox):
    for index in range(KEPT):
        outbox.put_event("job.paused", id=str(index), detail={})
    stored = outbox.events.list()
    assert (len(stored), stored[0].number, stored[-1].number) == (KEPT, KEPT + 2, 3)
    assert outbox.events.get(2) is None
    assert outbox.events.get(3) == stored[-1]


def test_the_terminal_prints_mails_and_messages_and_with_verbose_events(caplog):
    def lines():
        return [RunLines(in_colour=False).format(record).partition("  ")[2] for record in caplog.records]

    with caplog.at_level(logging.INFO, "duetime.local.outbox"):
        outbox = Outbox()
        outbox.put_event("action.failed", id="e", detail={"tenant_id": "acme"})
        outbox.put_mail(FAILED, address=TO, language="en", subject="it\nfailed", text="", html="")
        outbox.put_message(FAILED, subject="failed", text="", attributes={})
    assert lines() == [
        "mail            to o…@acme.example: it failed",
        "message         to the topic: failed",
    ]
    caplog.clear()
    with caplog.at_level(logging.DEBUG, "duetime.local.outbox"):
        outbox.put_event("action.failed", id="e", detail={"tenant_id": "acme"})
    assert lines() == ["event           action.failed of acme"]


@pytest.fixture(scope="module")
def failed_action():
    """A local cloud that has sent notifications of a failed action."""
    with LocalCloud(app_of(), LocalOptions(settings=SHORT, mail_to=TO)) as cloud:
        action = fail(cloud)
        sent(cloud.outbox.mails, 2)
        sent(cloud.outbox.messages, 2)
        yield cloud, action


@pytest.fixture
def duetime(failed_action, capsys):
    def run(*words):
        try:
            status = main(["outbox", *words, "--url", failed_action[0].url])
        except SystemExit as ended:
            status = ended.code
        return status, *capsys.readouterr()

    return run


def test_the_start_page_links_to_the_outbox(failed_action):
    cloud, _ = failed_action
    assert 'href="/outbox"' in request(cloud, "GET", "/local")[1]
    status, page = request(cloud, "GET", "/outbox")
    assert (status, "doomed failed" in page) == (200, True)


def test_each_list_is_a_table(duetime, failed_action):
    action: Action = failed_action[1]
    for kind, expected in (
        ("events", action.id),
        ("mails", TO),
        ("messages", "warning"),
        ("metrics", "type=doomed"),
    ):
        status, printed, _ = duetime(kind)
        assert status == 0
        assert expected in printed


def test_the_command_lists_entries_of_one_type(duetime):
    _, printed, _ = duetime("mails", "--type", FAILED, "--limit", "5")
    head, line = printed.splitlines()
    assert head.split() == ["N", "SENT", "TYPE", "TO", "LANGUAGE", "SUBJECT"]
    assert line.split()[-4:] == ["en", "acme:", "doomed", "failed"]
    assert duetime("events", "--type", "job.paused") == (0, "no events\n", "")
    _, printed, _ = duetime("metrics", "--type", "failed", "--json")
    assert {load["name"] for load in json.loads(printed)["items"]} == {"failed"}


def test_a_mail_is_printed_as_text(duetime, failed_action):
    (mail,) = failed_action[0].outbox.mails.list(type=FAILED)
    status, printed, _ = duetime("mails", str(mail.number))
    assert status == 0
    assert printed.startswith(f"to:       {TO}\nsubject:  acme: doomed failed\nlanguage: en\n\n")
    assert "the card was stolen" in printed
    _, printed, _ = duetime("mails", str(mail.number), "--json")
    assert json.loads(printed)["html"] == mail.html


@pytest.mark.parametrize(
    ("words", "status", "problem"),
    [
        (("mails", "9"), 1, "no mail has the number 9: `duetime outbox mails` lists them"),
        (("mails", "1", "--limit", "2"), 2, "--limit and --type are for the list"),
        (("events", "--limit", "0"), 1, "limit is '0'; allowed is 1 to 1,000"),
        (
            ("events", "--url", "https://scheduler.example.com"),
            1,
            "is no local cloud, and only a local cloud has",
        ),
    ],
)
def test_an_unknown_mail_is_an_error_on_one_line(capsys, failed_action, words, status, problem):
    where = () if "--url" in words else ("--url", failed_action[0].url)
    assert main(["outbox", *words, *where]) == status
    (line,) = capsys.readouterr().err.splitlines()
    assert problem in line
