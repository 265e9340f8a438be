"""Host the handlers of targets in an app."""

from __future__ import annotations

from collections.abc import Iterable

from duetime.app import App
from duetime.ids import TARGET_WORKER
from duetime.targets.grants import Grant, Grants
from duetime.targets.handlers import SendTargets, TargetCalls
from duetime.targets.http_post import HttpPost


def with_targets(app: App, targets: Iterable[Grant | str]) -> App:
    """Return the app with the handlers of granted targets: for the local cloud, embedded, and simulations.

    A stack grants them by ``scheduler.grant_target(…)`` instead: a worker of their own sends them there.

    Args:
        app: stays as it is.
        targets: ARNs, ``https://`` and a host for webhooks, or grants with options.

    Raises:
        DeclarationError: a target is none of these.
    """
    grants = Grants.of_all(targets)
    return app.extended(_target_app(grants, app.worker)) if grants.granted else app


def target_app(grants: Grants, calls: TargetCalls | None = None, post: HttpPost | None = None) -> App:
    """Return the app of the worker that sends targets; without grants, it only reads payloads."""
    return _target_app(grants, TARGET_WORKER, calls, post)


def _target_app(
    grants: Grants, worker: str, calls: TargetCalls | None = None, post: HttpPost | None = None
) -> App:
    def own() -> TargetCalls:
        from duetime.aws.target_calls import AwsTargetCalls  # noqa: PLC0415 - only where a target is sent

        return AwsTargetCalls()

    app = App(worker=worker)
    for handler in SendTargets(grants, own if calls is None else lambda: calls, post).handlers():
        app.add(handler)
    return app
