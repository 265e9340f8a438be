"""What a Lambda's process sets up once: its logs, its name, and the app that its settings name."""

from __future__ import annotations

import logging
import sys
from importlib import import_module

from duetime.app import App
from duetime.errors import DeclarationError


def write_json_logs(level: int = logging.INFO) -> None:
    """Have everything below the logger ``duetime`` written to standard output, one JSON object a line."""
    from aws_lambda_powertools.logging.formatter import (  # noqa: PLC0415 - only a Lambda's process writes so
        LambdaPowertoolsFormatter,
    )

    output = logging.StreamHandler(sys.stdout)
    output.setFormatter(
        LambdaPowertoolsFormatter(log_record_order=["timestamp", "level", "message", "action"])
    )
    root = logging.getLogger("duetime")
    root.handlers, root.propagate = [output], False
    root.setLevel(level)


def load_app(where: str) -> App:
    """Import the app that ``module:name`` leads to.

    Raises:
        DeclarationError: the text has another form, or what it leads to is no `App` or registers nothing.
    """
    module, _, name = where.partition(":")
    if not module or not name:
        raise DeclarationError(f"the app is {where!r}; say module:name, such as billing.handlers:app")
    try:
        app = getattr(import_module(module), name)
    except AttributeError:
        raise DeclarationError(f"the module {module!r} has no {name!r}") from None
    if not isinstance(app, App):
        raise DeclarationError(f"{where} is {type(app).__name__}, not a duetime.App")
    if not app.handlers:
        raise DeclarationError(f"{where} registers no handler; decorate one with @{name}.action")
    return app
