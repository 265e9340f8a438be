"""Checks whether a failure reaches a person: by notifications, and by alarms."""

from __future__ import annotations

from duetime._english import counted
from duetime.aws.alarm_route import Alarms
from duetime.errors import DuetimeError
from duetime.verify.lab import Json
from duetime.verify.trial import Check, Failed, Result, Trial, settled

_KIND = "scheduling.dead_lettered"
_PATH = "notifications"
_IN_APP = "in_app"
_ALARM = "failed"


def _is_listed(trial: Trial, row: Json) -> bool:
    page = trial.lab.api.ask("GET", _PATH, query={"kind": _KIND})
    return any(item["facts"].get("id") == row["id"] for item in page["items"])


def _channels(trial: Trial) -> list[str]:
    preferences = trial.lab.api.ask("GET", _PATH, "preferences")
    available = preferences["channels_available"]
    return [name for name in preferences["channels_in_force"].get(_KIND, []) if name in available]


def _follow(trial: Trial) -> None:
    [row] = trial.rows
    if trial.has_acted or row["status"] != "failed":
        return
    if _IN_APP not in _channels(trial) or _is_listed(trial, row):
        trial.has_acted = True
        trial.lab.change("redrive", row)


def _notified(trial: Trial) -> str:
    [row] = trial.rows
    channels = _channels(trial)
    if not channels:
        raise Failed("the tenant has no channel for dead letters")
    if not trial.has_acted:
        raise Failed("no notification was listed")
    settled(row, "executed")
    others = [name for name in channels if name != _IN_APP]
    listed = ["listed in the console"] if _IN_APP in channels else []
    return "; ".join([*listed, *(f"sent by {name}: look for it" for name in others)])


NOTIFIED = Check(
    "a dead letter is notified",
    "the tenant's channels get it",
    lambda trial: trial.schedule(trial.soon(), poison=True, notify=True),
    _notified,
    _follow,
    is_over=lambda trial: bool(trial.rows[0]["status"] == "executed"),
    remedy="duetime notifications preferences --channel scheduling.dead_lettered=in_app",
)


def alarms_reach_someone(prefix: str, run_id: str) -> Result:
    """Fire one alarm, and check that each alarm has a topic with a confirmed subscription."""
    name, expected = "alarms", "each has a topic with a confirmed subscription"
    try:
        alarms = Alarms(prefix)
        routes = alarms.routes()
        mute = [route.name for route in routes if not route.confirmed]
        if not routes:
            return Result(name, "failed", expected, f"no alarm's name begins with {prefix}", _NO_ALARMS)
        if mute:
            return Result(name, "failed", expected, f"no subscriber of: {', '.join(mute)}", _NO_MAIL)
        fired = next((route.name for route in routes if route.name == prefix + _ALARM), routes[0].name)
        alarms.fire(fired, f"fired by duetime deployment verify ({run_id}); it ends by itself")
    except DuetimeError as error:
        return Result(
            name, "failed", expected, str(error), "use credentials that may read CloudWatch and SNS"
        )
    return Result(
        name, "ok", expected, f"{counted(len(routes), 'alarm')}; {fired} was fired: look for its message"
    )


_NO_ALARMS = "name the deployment's prefix: --prefix"
_NO_MAIL = "set alarm_email, deploy, and confirm the mail of SNS"
