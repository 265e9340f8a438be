"""The migration pages: each has its table, and what the column of duetime's calls names exists."""

import re
from dataclasses import fields
from inspect import signature

import pytest

import duetime
from duetime import Action, Run, Scheduler
from duetime.cadence import cron, daily, every, interval
from duetime.declare.job_options import JobOptions
from duetime.jobs.jobs import Jobs
from duetime.settings import Settings
from tests.docs.test_docs import ROOT

PAGES = sorted((ROOT / "docs/coming-from").glob("*.md"))
NAMES = {
    "scheduler": Scheduler,
    "jobs": Jobs,
    "run": Run,
    "action": Action,
    "duetime": duetime,
}
CADENCES = {"cron": cron, "daily": daily, "every": every, "interval": interval}
OPTIONS = {
    *(field.name for field in fields(Settings)),
    *JobOptions.__annotations__,
    *signature(Scheduler.schedule).parameters,
    *signature(duetime.RetryPolicy.__init__).parameters,
    *signature(duetime.Retry.__init__).parameters,
    *signature(duetime.App.__init__).parameters,
    *signature(Jobs.pause).parameters,
    *("seconds", "minutes", "days"),
    *("name", "tz"),
}


def ours(page):
    """The code in the second column of the page's table."""
    rows = re.findall(r"^\|(.+)\|(.+)\|$", page.read_text(), re.MULTILINE)[2:]
    return [code for _, cell in rows for code in re.findall(r"`([^`]+)`", cell)]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_migration_page_has_the_table_the_differences_and_what_is_missing(page):
    text = page.read_text()
    assert re.search(r"^\| [^|]+ \| duetime \|$", text, re.MULTILINE)
    assert re.findall(r"^## (.+)$", text, re.MULTILINE)[:2] == ["Differences", "What duetime does not do"]
    assert len(ours(page)) >= 12


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_calls_that_a_migration_page_recommends_exist(page):
    for code in ours(page):
        for owner, name in re.findall(r"\b(scheduler|jobs|run)\.(\w+)", code):
            assert hasattr(NAMES[owner], name) or name in Run.__dataclass_fields__, code
        for name, arguments in re.findall(r'\b(cron|daily|every|interval)\(("[^"]*"|\w+=\d+)', code):
            eval(f"{name}({arguments})", dict(CADENCES))  # noqa: S307 - our own pages
        for option in re.findall(r"[(, ](\w+)=", f" {code}"):
            known = OPTIONS | {"tz", "default_tz", "seconds", "minutes", "days", "hours", "reason", "until"}
            assert option in known, f"{option} in {code}"


def test_the_page_of_alternatives_names_what_is_right_elsewhere():
    page = (ROOT / "docs/is-this-for-me.md").read_text()
    for name in ("Step Functions", "durable functions", "SQS delay", "cron", "EventBridge Scheduler"):
        assert name in page
