"""Load the app that a deployment's settings name; for the API, the apps of all workers."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

from duetime.app import App, importing
from duetime.declare.handler import Handler
from duetime.errors import DeclarationError


def load_app(where: str) -> App:
    """Import the app at ``module:name``.

    Raises:
        DeclarationError: the text has another form, or the object is no `App`, registers nothing, or is
            incomplete.
    """
    module, _, name = where.partition(":")
    if not module or not name:
        raise DeclarationError(f"the app is {where!r}; say module:name, such as billing.handlers:app")
    imported = imported_for(where, module)
    try:
        app = getattr(imported, name)
    except AttributeError:
        apps = ", ".join(found for found, value in vars(imported).items() if isinstance(value, App))
        found = f"; its apps: {apps}" if apps else "; it has no duetime.App"
        raise DeclarationError(f"the module {module!r} has no {name!r}{found}") from None
    if not isinstance(app, App):
        raise DeclarationError(f"{where} is {type(app).__name__}, not a duetime.App")
    if not app.handlers:
        raise DeclarationError(
            f"{where} registers no handler; decorate one with @{name}.action or @{name}.job"
        )
    app.complete()
    return app


def imported_for(where: str, module: str) -> ModuleType:
    """Import the module of an app or of a setup function, during which no app can run embedded."""
    importing.append(where)
    try:
        return import_module(module)
    finally:
        importing.pop()


def load_apps(where: str) -> App:
    """Combine several apps into one that only reads payloads: ``billing:app reports:app``.

    While a type moves between two workers, the newer version reads it, as in the routes.

    Raises:
        DeclarationError: as `load_app`, of any of them.
    """
    apps = [load_app(part) for part in where.split()] or [load_app(where)]
    if len(apps) == 1:
        return apps[0]
    newest: dict[str, Handler] = {}
    for handler in (handler for app in apps for handler in app.handler_set.by_name.values()):
        known = newest.get(handler.name, handler)
        newest[handler.name] = max(known, handler, key=lambda candidate: candidate.version)
    combined = App()
    for handler in newest.values():
        combined.add(handler)
    return combined
