"""docs/settings.md, written from the settings' own metadata: ``python -m duetime.cdk.settings_doc docs/settings.md``."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import Field, fields
from datetime import timedelta
from pathlib import Path
from typing import Any

from duetime.cdk.context import KEY, MADE_BY_THE_STACK, allowed, chosen, default_of
from duetime.cdk.deployment import Deployment
from duetime.environment import PREFIX
from duetime.settings import Settings

_HEAD = f"""# Settings

<!-- Made by `python -m duetime.cdk.settings_doc docs/settings.md`; change the settings' own texts instead. -->

A deployment's settings are in `cdk.json`, under `context`, each with `{KEY}` before its name. `-c` changes one for one command:

```sh
npx cdk deploy -c {KEY}lease=120 -c {KEY}heartbeat=30
```

Durations are seconds. What contradicts itself or AWS' limits, and a name that is no setting, is refused when the stack is synthesised, with the name, the value and what is allowed.

In a CDK app of your own the same settings are the fields of `duetime.settings.Settings` and `duetime.cdk.Deployment`; durations are `timedelta` there.
"""

_OF_THE_FUNCTIONS = f"""## What the functions read

The stack hands these to its functions as environment variables: `{PREFIX}LEASE` and so on. The defaults are left out.
"""

_OF_THE_DEPLOYMENT = """## What only the deployment knows
"""

_OF_THE_STACK = f"""## What the stack makes

Nobody chooses these; the functions find them in their environment, with `{PREFIX}` before the name. A script that only schedules needs `{PREFIX}ACTIONS_TABLE` (or `{PREFIX}PREFIX`), and `{PREFIX}DUE_SHARDS` and `{PREFIX}DUE_ORDER` where they are not the defaults; one that redrives what is undelivered, `{PREFIX}FAILURE_QUEUE`.
"""


def page() -> str:
    """The whole page."""
    made = [field for field in fields(Settings) if field.name in MADE_BY_THE_STACK]
    parts = (
        _HEAD,
        _OF_THE_FUNCTIONS,
        _table(chosen(Settings)),
        _OF_THE_DEPLOYMENT,
        _table(chosen(Deployment)),
        _OF_THE_STACK,
        "\n".join(
            ["| setting | means |", "|---|---|", *(f"| `{each.name}` | {_about(each)} |" for each in made)]
        ),
    )
    return "\n".join(parts) + "\n"


def _table(listed: Iterable[Field[Any]]) -> str:
    return "\n".join(["| setting | default | allowed | means |", "|---|---|---|---|", *_rows(listed)]) + "\n"


def _rows(listed: Iterable[Field[Any]]) -> Iterator[str]:
    for each in listed:
        yield f"| `{each.name}` | {_default(default_of(each))} | {_allowed(each)} | {_about(each)} |"


def _default(value: object) -> str:
    match value:
        case "":
            return ""
        case Mapping():
            return f"`{json.dumps(dict(value))}`"
        case bool():
            return f"`{str(value).lower()}`"
        case timedelta():
            return f"`{value.total_seconds():.12g}`"
        case _:
            return f"`{value}`"


def _allowed(each: Field[Any]) -> str:
    return allowed(each).replace("|", "\\|")


def _about(each: Field[Any]) -> str:
    return str(each.metadata["about"]).replace("|", "\\|")


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(page(), encoding="utf-8")
