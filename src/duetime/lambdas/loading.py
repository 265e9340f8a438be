"""Loading the app that a deployment's settings name."""

from __future__ import annotations

from importlib import import_module

from duetime.app import App
from duetime.errors import DeclarationError


def load_app(where: str) -> App:
    """Import the app that ``module:name`` leads to.

    Raises:
        DeclarationError: the text has another form, or what it leads to is no `App`, registers nothing, or is not
            complete.
    """
    module, _, name = where.partition(":")
    if not module or not name:
        raise DeclarationError(f"the app is {where!r}; say module:name, such as billing.handlers:app")
    imported = import_module(module)
    try:
        app = getattr(imported, name)
    except AttributeError:
        raise DeclarationError(f"the module {module!r} has no {name!r}") from None
    if not isinstance(app, App):
        raise DeclarationError(f"{where} is {type(app).__name__}, not a duetime.App")
    if not app.handlers:
        raise DeclarationError(
            f"{where} registers no handler; decorate one with @{name}.action or @{name}.job"
        )
    app.complete()
    return app
