"""The first hours of those who come from another scheduler: the calls of the page's table, executed."""

import re

import pytest

from tests.first_hours.pages import second_column, section

pytestmark = pytest.mark.hours

CELERY = """
from celery import Celery
from celery.schedules import crontab

app = Celery("shop")
app.conf.timezone = "Europe/Paris"
app.conf.beat_schedule = {"clean-up": {"task": "shop.clean_up", "schedule": crontab(minute=30, hour=2)}}


@app.task(bind=True, max_retries=4)
def remind(self, order):
    raise self.retry(countdown=30)
"""
AFTER_CELERY = """
from datetime import UTC, datetime, timedelta

from duetime import App, Payload, Retry, RetryPolicy, Run, cron, every
from duetime.testing import SimulatedCloud
from old import app as celery

app = App(default_tz=celery.conf.timezone)
runs = []


class Remind(Payload):
    order: str


@app.action({retry}, {timeout})
def remind(payload: Remind, run: Run) -> None:
    runs.append(run.attempt)
    if run.attempt == 1:
        {again}


{job}
def clean_up(run: Run) -> None:
    runs.append(run.nominal_at)


@app.job({interval}, name="shop-poll")
def poll() -> None: ...


cloud = SimulatedCloud(app, start=datetime(2027, 1, 1, tzinfo=UTC))
scheduler = cloud.scheduler
action = {countdown}
again = {now}
scheduler.schedule(Remind(order="o-1"), at=timedelta(days=9), {key})
called_off = scheduler.schedule(Remind(order="o-1"), at=timedelta(days=9), {key})
action, reminded = called_off, action
{revoke}
cloud.advance(days=1)

[due] = [nominal for nominal in runs if isinstance(nominal, datetime)]
entry = celery.conf.beat_schedule["clean-up"]["schedule"]
assert (entry.hour, entry.minute) == ({{due.hour + 1}}, {{due.minute}})  # Paris is an hour ahead of UTC
assert [scheduler.get(done.id).status for done in (reminded, again, called_off)] == [
    "executed", "executed", "cancelled"
]
first, second = scheduler.get(reminded.id).attempts
assert second.started_at - first.finished_at >= timedelta(seconds=30)
print("moved")
"""
AFTER_APSCHEDULER = """
import time
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from apscheduler.triggers.cron import CronTrigger
from duetime import Payload, Run, cron, every, App

{app}
ran = []
paris = "Europe/Paris"


class Remind(Payload):
    order: str


@app.action
def remind(payload: Remind) -> None:
    ran.append(payload.order)


{crontab_job}
def clean_up() -> None: ...


{interval_job}
def poll() -> None: ...


with app.embedded() as scheduler:
    when = datetime.now(UTC) + timedelta(seconds=1)
    due = {date}
    moved = scheduler.schedule(Remind(order="moved"), at=timedelta(days=1))
    dropped = scheduler.schedule(Remind(order="dropped"), at=timedelta(seconds=1))
    at, id, name = when, moved.id, "shop-poll"
    {reschedule}
    id = dropped.id
    {cancel}
    {pause}
    while len(ran) < 2:
        time.sleep(0.05)
    assert sorted(ran) == ["due", "moved"]
    job = scheduler.jobs.get("shop-clean-up")

trigger = CronTrigger.from_crontab("30 2 * * *", timezone=ZoneInfo(paris))
ours = {from_crontab}
instant = datetime(2027, 1, 1, tzinfo=UTC)
for _ in range(80):  # up to the change of the clocks
    theirs = trigger.get_next_fire_time(instant, instant + timedelta(seconds=1))
    instant = ours.next_after(instant)
    assert instant == theirs, (instant, theirs)
print("moved")
"""
SAME = """
from datetime import UTC, datetime

from duetime.cadence import cron, every, interval, parse

start = datetime(2027, 1, 1, tzinfo=UTC)
theirs, ours = parse({written!r}), {ours}
if hasattr(ours, "starting"):
    theirs, ours = theirs.starting(start), ours.starting(start)
at = start
for _ in range(20):
    assert (following := theirs.next_after(at)) == ours.next_after(at)
    at = following
"""


def cell(table, begin, number=0):
    [found] = [cells for first, cells in table.items() if first.startswith(begin)]
    return found[number]


def test_a_celery_app_with_its_beat_moves_by_the_pages_table(folder):
    table = second_column(section("docs/coming-from/celery.md"))
    folder.install('pip install "duetime[local]" celery')
    folder.write("old.py", CELERY)
    calls = {
        "retry": cell(table, "`autoretry_for`"),
        "timeout": cell(table, "`soft_time_limit`"),
        "again": cell(table, "`raise self.retry"),
        "job": cell(table, "`beat_schedule"),
        "interval": cell(table, "`schedule: 30.0`"),
        "countdown": cell(table, "`task.apply_async(args, countdown"),
        "now": cell(table, "`task.delay"),
        "key": cell(table, "`task_id=").replace("…", '"o-1"'),
        "revoke": cell(table, "`result.revoke()`"),
    }
    script = AFTER_CELERY.format(**calls).replace("Payload(…)", 'Remind(order="o-1")')
    folder.write("new.py", script)
    assert folder.run("python new.py") == "moved\n"


def test_a_schedule_of_eventbridge_is_translated_as_the_page_says(folder):
    folder.install('pip install "duetime[cli]"')
    table = second_column(section("docs/coming-from/eventbridge-scheduler.md"))
    translated = {
        re.search(r'"([^"]+)"', first)[1]: cells[0]
        for first, cells in table.items()
        if re.search(r'ScheduleExpression="(cron|rate)', first)
    }
    assert len(translated) == 2
    for expression, ours in translated.items():
        written = re.search(r'write "([^"]+)"', folder.fail(f"duetime preview '{expression}'", 2))[1]
        folder.write("same.py", SAME.format(written=written, ours=ours))
        folder.run("python same.py")


def test_an_apscheduler_app_moves_by_the_pages_table(folder):
    table = second_column(section("docs/coming-from/apscheduler.md"))
    folder.install('pip install "duetime[cli]" apscheduler')
    calls = {
        "app": cell(table, "`BackgroundScheduler()`"),
        "date": cell(table, '`add_job(f, "date"').replace("Payload(…)", 'Remind(order="due")'),
        "crontab_job": cell(table, '`add_job(f, "cron"').replace("tz=…", "tz=paris"),
        "interval_job": cell(table, '`add_job(f, "interval"').replace("name=…", 'name="shop-poll"'),
        "reschedule": cell(table, "`job.reschedule"),
        "cancel": cell(table, "`job.reschedule", 1),
        "pause": cell(table, "`job.pause()`"),
        "from_crontab": cell(table, "`CronTrigger.from_crontab").replace('")', '", tz=paris)'),
    }
    calls["crontab_job"] = calls["crontab_job"].replace("name=…", 'name="shop-clean-up"')
    folder.write("new.py", AFTER_APSCHEDULER.format(**calls))
    assert folder.run("python new.py") == "moved\n"
