"""Read settings from the CDK context: ``"duetime:lease": 60`` in cdk.json, or ``-c duetime:lease=60``.

An unknown name is rejected like a wrong value, so that a misspelt setting never becomes its default silently.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, KeysView, Mapping
from dataclasses import Field, fields, replace
from typing import Any, TypeVar

from constructs import Node

from duetime._english import nearest
from duetime._setting_fields import default_of, read, settings_in, shown
from duetime.cdk.checks import contradictions
from duetime.cdk.deployment import Deployment
from duetime.errors import SettingsError
from duetime.profiles import with_profile
from duetime.settings import Made, Settings, check_variables

KEY = "duetime:"
BEGIN = (
    "profile", "app", "handlers", "requirements", "prefix", "default_tz", "alarm_email",
    "worker_timeout", "worker_memory", "worker_concurrency", "retention", "keep_data",
)  # fmt: skip
"""The settings of a first deployment, at most twelve."""

OF_ANY_APP = ("profile", "architecture", "python")
"""Settings that the context sets for an app that passes its own `Deployment`, too."""

_READ = f"{KEY}from_context"  # the metadata of an app that reads its settings from the context
_OF_HANDLERS = {
    "app": "Handlers(app=...)",
    "handlers": "Handlers(source=...)",
    "requirements": "Handlers(requirements=...)",
}


def from_context(node: Node) -> tuple[Settings, Deployment]:
    """Read the settings from the context; absent ones keep their defaults.

    Raises:
        SettingsError: every problem at once, each with the setting's name, its value and what is allowed.
    """
    node.root.node.add_metadata(_READ, KEY)
    given, problems = _given(node)
    settings = _read_all(Settings, given, problems)
    deployment = _read_all(Deployment, given, problems)
    if settings and deployment:
        settings = with_profile(settings, deployment.profile)
        deployment = with_profile(deployment, deployment.profile)
        problems += contradictions(settings, deployment)
    if problems or settings is None or deployment is None:
        raise SettingsError(problems)
    return settings, deployment


def chosen_settings(
    node: Node, settings: Settings | None, deployment: Deployment | None, profile: str | None
) -> tuple[Settings, Deployment]:
    """Return an app's settings with the profile's values, and with those in `OF_ANY_APP` of the context.

    `duetime deployment rehearse` sets them for this machine.

    Raises:
        SettingsError: the context has a name that is unknown or that the app does not read, or a value that
            is not allowed.
    """
    deployment = deployment or Deployment()
    given, problems = _given(node)
    if not any(entry.type == _READ for entry in node.root.node.metadata):
        problems += _unread(given.keys())
    values = _values(Deployment, {name: given[name] for name in OF_ANY_APP if name in given}, problems)
    if problems:
        raise SettingsError(problems)
    name = Deployment(profile=values.pop("profile", profile or deployment.profile)).profile
    deployment = with_profile(deployment, name)
    return with_profile(settings or Settings(), name), replace(deployment, **values, profile=name)


def _given(node: Node) -> tuple[dict[str, Any], list[str]]:
    """Return what the context gives, by the names of the settings, and a problem for each unknown name."""
    check_variables()
    context = node.get_all_context()
    given = {name.removeprefix(KEY): value for name, value in context.items() if name.startswith(KEY)}
    return given, [*_unknown(given)]


def _unread(given: KeysView[str]) -> Iterator[str]:
    """Yield a problem for each setting that only `from_context` reads from the context."""
    own = {setting.name: kind.__name__ for kind in (Settings, Deployment) for setting in settings_in(kind)}
    for name in sorted(own.keys() & given - {*OF_ANY_APP}):
        yield (
            f"{KEY}{name} is in the context, but this app gives its settings in code;"
            f" pass {_OF_HANDLERS.get(name, f'{own[name]}({name}=...)')}, or use from_context"
        )


def _unknown(given: Mapping[str, Any]) -> Iterator[str]:
    known = {field.name for kind in (Settings, Deployment) for field in settings_in(kind)}
    made = {field.name for field in fields(Made)}
    for name in sorted(given.keys() - known):
        reason = "the stack sets it itself" if name in made else "is not a setting"
        meant = nearest(name, known)
        remedy = f"did you mean {meant}?" if meant else f"the first settings are {', '.join(BEGIN)};"
        yield f"{KEY}{name} is {given[name]!r}, but {reason}; {remedy} docs/settings.md lists all"


T = TypeVar("T", Settings, Deployment)


def _read_all(kind: type[T], given: Mapping[str, Any], problems: list[str]) -> T | None:
    try:
        return kind(**_values(kind, given, problems))
    except SettingsError as error:
        problems += error.problems
        return None


def _values(kind: type[T], given: Mapping[str, Any], problems: list[str]) -> dict[str, Any]:
    """Return the values given for a settings class; add a problem for each that cannot be read."""
    values: dict[str, Any] = {}
    for setting in settings_in(kind):
        if (name := setting.name) in given:
            try:
                values[name] = _read(setting, given[name])
            except (ValueError, TypeError, OverflowError, KeyError):
                problems.append(f"{name} is {given[name]!r}; allowed is {allowed(setting)}")
    return values


def _read(setting: Field[Any], written: Any) -> object:
    """Parse a value of cdk.json, or the text of a command line."""
    if isinstance(written, Mapping):
        written = json.dumps(dict(written))
    text = str(written)
    return text.lower() if text.lower() in setting.metadata.get("choices", ()) else read(setting, text)


def allowed(setting: Field[Any]) -> str:
    """Return the values that a field allows, in words."""
    limits = setting.metadata
    if "low" in limits:
        return f"{shown(limits['low'])} to {shown(limits['high'])}"
    if "choices" in limits:
        return ", ".join(str(choice).lower() for choice in limits["choices"])
    if isinstance(default_of(setting), Mapping):
        return "a JSON object of texts"
    if isinstance(setting.default, bool):
        return "true or false"
    return str(limits.get("allowed", "text"))
