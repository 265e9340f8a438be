"""The environment: no other module reads it. `settings` parses the deployment's settings from it."""

from __future__ import annotations

import os
import socket
from collections.abc import Mapping
from dataclasses import Field, dataclass, fields
from typing import Any, Self

from duetime.errors import SettingsError

PREFIX = "DUETIME_"
RUNBOOK = f"{PREFIX}RUNBOOK"
WORKER_CONCURRENCY = f"{PREFIX}WORKER_CONCURRENCY"
USUAL_CONCURRENCY = 10
"""The calls that a worker handles at once, by default."""
REGIONS_TABLE = f"{PREFIX}REGIONS_TABLE"
TARGETS = f"{PREFIX}TARGETS"
FILE = f"{PREFIX}FILE"
OTHERS = frozenset(
    PREFIX + name
    for name in (
        *("URL", "TOKEN", "SIGN", "PROFILE", "CONFIG", "TIMEOUT"),  # of the command line
        *("API_PREFIX", "SIGN_IN_URL", "SIGN_IN_ISSUER", "SIGN_IN_CLIENT"),  # of the console
        *("RUNBOOK", "WORKER_CONCURRENCY", "REGIONS_TABLE", "TARGETS"),  # of functions
        *("ACTION", "TENANT"),  # of a started task or job
        "FILE",  # of schedulers
    )
)
"""The variables that are no settings."""
SWITCH = {"true": True, "1": True, "on": True, "false": False, "0": False, "off": False}


def environment(given: Mapping[str, str] | None = None) -> Mapping[str, str]:
    """Return the given environment, or the process's own."""
    return os.environ if given is None else given  # noqa: TID251 - this is the one place that reads it


def has_variables(environ: Mapping[str, str] | None = None) -> bool:
    """Return whether the environment has a variable that may be a setting, or a misspelt name."""
    return any(name.startswith(PREFIX) and name not in OTHERS for name in environment(environ))


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsoleEnvironment:
    """The environment of the console's function, which only serves files."""

    api_prefix: str
    sign_in_url: str
    sign_in_issuer: str
    sign_in_client: str
    runbook: str = ""
    """The address of the runbook; empty if it has none."""

    @classmethod
    def from_env(cls, environ: Mapping[str, str] | None = None) -> Self:
        """Read the variables that `to_env` returns, such as ``DUETIME_API_PREFIX``.

        Raises:
            SettingsError: one of them is missing; there may be no runbook.
        """
        source = {RUNBOOK: "", **environment(environ)}
        if missing := [name for name in map(variable_of, fields(cls)) if name not in source]:
            raise SettingsError([f"{name} is missing; the stack sets it" for name in missing])
        return cls(**{field.name: source[variable_of(field)] for field in fields(cls)})

    def to_env(self) -> dict[str, str]:
        """Return the environment from which `from_env` makes an equal object."""
        values = {variable_of(field): getattr(self, field.name) for field in fields(self)}
        return {name: value for name, value in values.items() if value or name != RUNBOOK}


def instance_name(environ: Mapping[str, str] | None = None) -> str:
    """Return this process's name in attempts: the end of its log stream's name, or host and process id."""
    source = environment(environ)
    stream = source.get("AWS_LAMBDA_LOG_STREAM_NAME")
    return stream[-16:] if stream else f"{socket.gethostname()[-20:]}:{os.getpid()}"


def is_lambda(environ: Mapping[str, str] | None = None) -> bool:
    """Return whether this process is a Lambda function."""
    return "AWS_LAMBDA_FUNCTION_NAME" in environment(environ)


def lambda_region(environ: Mapping[str, str] | None = None) -> str | None:
    """Return the region of this Lambda function; None in another process."""
    return environment(environ).get("AWS_REGION") if is_lambda(environ) else None


def trace_id(environ: Mapping[str, str] | None = None) -> str | None:
    """Return the id of the X-Ray trace of the present invocation; None without one, or if X-Ray drops it."""
    root, *others = environment(environ).get("_X_AMZN_TRACE_ID", "").split(";")
    return None if not root or "Sampled=0" in others else root.replace("Root=", "")


def aws_variables(environ: Mapping[str, str] | None = None) -> frozenset[tuple[str, str]]:
    """Return boto3's environment: its region, the endpoints, and every name that begins with ``AWS_``."""
    return frozenset(item for item in environment(environ).items() if item[0].startswith("AWS_"))


def cdk_region(environ: Mapping[str, str] | None = None) -> str | None:
    """Return the region in which CDK's command line deploys stacks without a region; None if unset."""
    return environment(environ).get("CDK_DEFAULT_REGION") or None


def runbook_place(environ: Mapping[str, str] | None = None) -> str | None:
    """Return the address of the deployment's runbook, which the stack sets for the API; None if unset."""
    return environment(environ).get(RUNBOOK) or None


def worker_concurrency(environ: Mapping[str, str] | None = None) -> int:
    """Return the calls that a worker handles at once, which the stack sets for the API."""
    return int(environment(environ).get(WORKER_CONCURRENCY) or USUAL_CONCURRENCY)


def granted_targets(environ: Mapping[str, str] | None = None) -> str:
    """Return the granted targets as JSON, which the stack sets for the worker that sends them."""
    return environment(environ).get(TARGETS) or "[]"


def variable(name: str, environ: Mapping[str, str] | None = None) -> str:
    """Return a variable that a webhook's grant names; empty if unset."""
    return environment(environ).get(name, "")


def file_of_rows(environ: Mapping[str, str] | None = None) -> str | None:
    """Return the SQLite file of a process that runs the app; None for a deployment on AWS."""
    return environment(environ).get(FILE) or None


def pager(environ: Mapping[str, str] | None = None) -> str | None:
    """Return the command that shows long texts; None if ``PAGER`` is unset."""
    return environment(environ).get("PAGER")


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandLine:
    """The environment of the command line; None or False where it is unset."""

    url: str | None = None
    token: str | None = None
    signs: bool = False
    profile: str | None = None
    api_prefix: str | None = None
    config: str = "~/.config/duetime/config.toml"
    no_colour: bool = False
    timeout: str | None = None

    @classmethod
    def from_env(cls, environ: Mapping[str, str] | None = None) -> Self:
        """Read ``DUETIME_URL`` and the other variables, and ``NO_COLOR``.

        An empty value counts as unset.

        Raises:
            SettingsError: ``DUETIME_SIGN`` is neither true nor false.
        """
        source = environment(environ)
        signs = source.get(PREFIX + "SIGN") or "false"
        if signs.lower() not in SWITCH:
            raise SettingsError([f"{PREFIX}SIGN is {signs!r}, which cannot be read; use true or false"])
        return cls(
            url=source.get(PREFIX + "URL") or None,
            token=source.get(PREFIX + "TOKEN") or None,
            signs=SWITCH[signs.lower()],
            profile=source.get(PREFIX + "PROFILE") or None,
            api_prefix=source.get(PREFIX + "API_PREFIX") or None,
            config=source.get(PREFIX + "CONFIG") or "~/.config/duetime/config.toml",
            no_colour=bool(source.get("NO_COLOR")),
            timeout=source.get(PREFIX + "TIMEOUT") or None,
        )


def variable_of(setting: Field[Any]) -> str:
    """Return the name of the variable that sets a field."""
    return PREFIX + setting.name.upper()
