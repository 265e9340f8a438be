"""The app of the worker that sends targets, and of the API that reads their payloads."""

from __future__ import annotations

from duetime.environment import granted_targets
from duetime.targets.grants import Grants
from duetime.targets.handlers import target_app

app = target_app(Grants.from_json(granted_targets()))
