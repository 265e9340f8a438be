"""Write docs/settings.md from the settings' metadata.

``python -m duetime.cdk.settings_doc docs/settings.md``
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping
from dataclasses import Field, fields
from datetime import timedelta
from pathlib import Path
from typing import Any

from duetime.cdk.context import KEY, MADE_BY_THE_STACK, allowed, chosen, default_of
from duetime.cdk.deployment import Deployment
from duetime.environment import PREFIX
from duetime.settings import Settings

_HEAD = f"""# Settings

<!-- Made by `python -m duetime.cdk.settings_doc docs/settings.md`; change the settings' texts instead. -->

A deployment's settings are in `cdk.json`, under `context`, each with `{KEY}` before its name.
`-c` changes one for one command:

```sh
npx cdk deploy -c {KEY}lease=120 -c {KEY}heartbeat=30
```

Durations are in seconds. Synthesis rejects contradictions, values outside AWS' limits and unknown names.
The message has the name, the value and the allowed values.

In your own CDK app the same settings are the fields of `duetime.settings.Settings` and
`duetime.cdk.Deployment`. Durations are `timedelta` there.
"""

_FUNCTION_SETTINGS = f"""## What the functions read

The stack passes these to its functions as environment variables, such as `{PREFIX}LEASE`.
Defaults are omitted.
"""

_DEPLOYMENT_SETTINGS = """## What only the deployment knows
"""

_DERIVED_SETTINGS = f"""## Settings that the stack derives

You cannot choose these. The functions read them from their environment, with `{PREFIX}` before the name.

- A script that only schedules needs `{PREFIX}ACTIONS_TABLE` (or `{PREFIX}PREFIX`).
  It needs `{PREFIX}DUE_SHARDS` and `{PREFIX}DUE_ORDER` if they differ from the defaults.
- A script that redrives undelivered inputs needs `{PREFIX}FAILURE_QUEUE`.
"""


def page() -> str:
    """Return the page."""
    derived = [field for field in fields(Settings) if field.name in MADE_BY_THE_STACK]
    parts = (
        _HEAD,
        _FUNCTION_SETTINGS,
        _table(chosen(Settings)),
        _DEPLOYMENT_SETTINGS,
        _table(chosen(Deployment)),
        _DERIVED_SETTINGS,
        "\n".join(
            [
                "| setting | means |",
                "|---|---|",
                *(f"| `{field.name}` | {_about(field)} |" for field in derived),
            ]
        ),
    )
    return "\n".join(parts) + "\n"


def _table(settings: Iterable[Field[Any]]) -> str:
    return (
        "\n".join(["| setting | default | allowed | means |", "|---|---|---|---|", *map(_row, settings)])
        + "\n"
    )


def _row(setting: Field[Any]) -> str:
    values = allowed(setting).replace("|", "\\|")
    return f"| `{setting.name}` | {_default(default_of(setting))} | {values} | {_about(setting)} |"


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


def _about(setting: Field[Any]) -> str:
    return str(setting.metadata["about"]).replace("|", "\\|")


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(page(), encoding="utf-8")
