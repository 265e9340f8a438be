"""The options of ``duetime local`` for a deployment's roles and identities."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

_NAMES = ("authorization", "roles", "required_role", "identities")


def add_access(parser: argparse.ArgumentParser) -> None:
    """Add ``--roles``, ``--identities``, ``--required-role`` and ``--authorization``."""
    group = parser.add_argument_group(
        "access",
        "As the deployment's settings of these names. JSON is an object of texts, or a file that holds one.",
    )
    add = group.add_argument
    add("--roles", type=_texts, metavar="JSON", help="what each role may do: role to permissions")
    add(
        "--identities",
        type=_texts,
        metavar="JSON",
        help="who signed requests come from: ARN to tenant and roles",
    )
    add("--required-role", metavar="ROLE", help="the role that every caller needs")
    add(
        "--authorization",
        choices=("roles", "allow-all"),
        help="by the roles, or allow everything (default: roles)",
    )


def access_of(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the settings that were given."""
    given = {name: getattr(arguments, name) for name in _NAMES}
    return {name: value for name, value in given.items() if value is not None}


def _texts(written: str) -> dict[str, str]:
    """Parse an object of texts from JSON, or from a file of that name. For argparse."""
    try:
        is_json = written.lstrip().startswith("{")
        content = json.loads(written if is_json else Path(written).read_text(encoding="utf-8"))
    except OSError as error:
        raise argparse.ArgumentTypeError(
            f"{written[:60]!r} is no JSON object, and no file of that name can be read: {error.strerror}"
        ) from None
    except (ValueError, RecursionError) as error:
        raise argparse.ArgumentTypeError(f"{written[:60]!r} is no JSON: {error}") from None
    if not isinstance(content, dict) or not all(isinstance(value, str) for value in content.values()):
        raise argparse.ArgumentTypeError(
            f'{written[:60]!r} is no object of texts, such as {{"viewers": "actions:read"}}'
        )
    return content
