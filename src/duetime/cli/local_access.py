"""Who may do what on the local cloud: a deployment's own roles and identities, as ``duetime local`` is told them."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

_NAMES = ("authorization", "roles", "required_role", "identities")


def add_access(parser: argparse.ArgumentParser) -> None:
    """``--roles``, ``--identities``, ``--required-role`` and ``--authorization``: as the settings of these names."""
    group = parser.add_argument_group(
        "who may do what",
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
    add("--required-role", metavar="ROLE", help="nobody may call the API without it")
    add(
        "--authorization",
        choices=("roles", "allow-all"),
        help="as the roles say, or everybody all (default: roles)",
    )


def access_of(arguments: argparse.Namespace) -> dict[str, Any]:
    """The settings that were said."""
    given = {name: getattr(arguments, name) for name in _NAMES}
    return {name: value for name, value in given.items() if value is not None}


def _texts(written: str) -> dict[str, str]:
    """An object of texts: JSON itself, or the name of a file with it. For argparse."""
    try:
        is_json = written.lstrip().startswith("{")
        said = json.loads(written if is_json else Path(written).read_text(encoding="utf-8"))
    except OSError as error:
        raise argparse.ArgumentTypeError(
            f"{written[:60]!r} is no JSON object, and no file of that name can be read: {error.strerror}"
        ) from None
    except (ValueError, RecursionError) as error:
        raise argparse.ArgumentTypeError(f"{written[:60]!r} is no JSON: {error}") from None
    if not isinstance(said, dict) or not all(isinstance(each, str) for each in said.values()):
        raise argparse.ArgumentTypeError(
            f'{written[:60]!r} is no object of texts, such as {{"viewers": "actions:read"}}'
        )
    return said
