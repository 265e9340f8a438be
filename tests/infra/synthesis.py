"""Synthesis for the tests: a template as properties to query, never by logical ids."""

import atexit
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from typing import Any

import aws_cdk as cdk
from aws_cdk import aws_lambda as lambda_
from aws_cdk.assertions import Template
from jsii import _type_checking

from duetime.cdk import Deployment, Duetime, Handlers
from duetime.settings import Settings
from tests.infra.once import once

ROOT = Path(__file__).parents[2]
BILLING = Handlers(app="examples.billing:app", source=ROOT)
PLAIN = Deployment(api=False, alarms=False)
"""For tests of grants on tables and queues: half the resources."""

_OUT = mkdtemp(prefix="duetime-cdk-")
atexit.register(rmtree, _OUT)

PAGE = Path(_OUT, "page")
"""A page of the console: no test of the stack needs that of a checkout to be built."""
PAGE.mkdir()
(PAGE / "index.html").write_text("<!doctype html>")


def stack(
    *,
    settings: Settings | None = None,
    deployment: Deployment | None = None,
    handlers: Sequence[Handlers] = (BILLING,),
    console_page: Path = PAGE,
    is_bundled: bool = False,
    is_validated: bool = False,
    region: str | None = None,
    context: Mapping[str, str] | None = None,
    profile: str | None = None,
) -> tuple[cdk.Stack, Duetime]:
    """A stack with a scheduler. Without bundling nothing is installed or imported, and manifests are empty.

    CDK's own validation costs a process ten seconds: it is on where a test reads what it finds. jsii checks
    the type of each argument in Python for a bundled stack alone; mypy and CDK itself check them in all.
    """
    _type_checking._resolved_check = None if is_bundled else lambda **_: None
    bundling = {} if is_bundled else {"aws:cdk:bundling-stacks": []}
    words = {**bundling, **(context or {})}
    app = cdk.App(outdir=mkdtemp(dir=_OUT), context=words, builtin_cloud_formation_validation=is_validated)
    made = cdk.Stack(app, "test", env=cdk.Environment(region=region) if region else None)
    return made, Duetime(
        made,
        "Duetime",
        settings=settings,
        deployment=deployment,
        handlers=handlers,
        profile=profile,
        console_page=console_page,
    )


def caller(made: cdk.Stack, name: str = "Caller") -> lambda_.Function:
    """Return the function of a caller."""
    return lambda_.Function(
        made,
        name,
        runtime=lambda_.Runtime.PYTHON_3_13,
        handler="index.handler",
        code=lambda_.Code.from_inline("def handler(event, context): ..."),
    )


@dataclass
class Synthesised:
    """A template's resources."""

    resources: dict[str, dict]
    assets: Path
    function_names: dict[str, str] = field(init=False)

    def __post_init__(self):
        self.function_names = {
            name: resource["Properties"].get("FunctionName", name)
            for name, resource in self.resources.items()
            if resource["Type"] == "AWS::Lambda::Function"
        }

    @classmethod
    def from_stack(cls, made: cdk.Stack) -> "Synthesised":
        return cls(Template.from_stack(made).to_json()["Resources"], Path(cdk.App.of(made).outdir))

    def of_type(self, kind: str) -> list[dict]:
        """The properties of every resource of a type."""
        return [resource["Properties"] for resource in self.resources.values() if resource["Type"] == kind]

    def one(self, kind: str, **properties: object) -> dict:
        """The properties of the one resource of a type that has these."""
        found = [
            candidate
            for candidate in self.of_type(kind)
            if all(candidate.get(name) == value for name, value in properties.items())
        ]
        assert len(found) == 1, f"{len(found)} of {kind} with {properties}"
        return found[0]

    def functions(self) -> dict[str, dict]:
        """Each function's properties, by its name without the prefix."""
        return {
            function["FunctionName"].removeprefix("duetime-"): function
            for function in self.of_type("AWS::Lambda::Function")
            if "FunctionName" in function
        }

    def role_statements(self, role: dict) -> Iterator[dict]:
        """The statements of a role's own policies."""
        for policy in role.get("Policies", []):
            yield from policy["PolicyDocument"]["Statement"]

    def rights(self, function: str) -> list[dict]:
        """The statements of a function's role."""
        reference = self.functions()[function]["Role"]["Fn::GetAtt"][0]
        return list(self.role_statements(self.resources[reference]["Properties"]))

    def all_statements(self) -> Iterator[dict]:
        """Every statement of every role and policy that allows something to one of our roles."""
        for role in self.of_type("AWS::IAM::Role"):
            yield from self.role_statements(role)
        for policy in self.of_type("AWS::IAM::Policy"):
            yield from policy["PolicyDocument"]["Statement"]

    def environment(self, function: str) -> dict:
        return self.functions()[function]["Environment"]["Variables"]

    def depends_on(self, resource: str) -> set[str]:
        """All that a resource waits for, by reference or by word, through any number of others."""
        seen: set[str] = set()
        waiting = [resource]
        while waiting:
            for name in _mentioned(self.resources[waiting.pop()]):
                if name in self.resources and name not in seen:
                    seen.add(name)
                    waiting.append(name)
        return seen


def made_with(
    settings: Settings | None = None, handlers: Sequence[Handlers] = (BILLING,), **deployment: object
) -> Synthesised:
    """Return a deployment with these settings, without bundles; keywords set fields of `Deployment`."""
    return synth(settings=settings, deployment=Deployment(**deployment), handlers=handlers)


def synth(
    *,
    settings: Settings | None = None,
    deployment: Deployment | None = None,
    handlers: Sequence[Handlers] = (BILLING,),
    region: str | None = None,
    context: Mapping[str, str] | None = None,
    profile: str | None = None,
) -> Synthesised:
    """Return a deployment of these arguments of `stack`, which the first worker of a run synthesises."""
    chosen = {
        "settings": settings,
        "deployment": deployment,
        "handlers": tuple(handlers),
        "region": region,
        "context": context,
        "profile": profile,
    }
    if profile is None and context is None:  # else what is given differs from the same value by default
        name = repr({**chosen, "settings": settings or Settings(), "deployment": deployment or Deployment()})
    else:
        name = repr(chosen)
    return Synthesised(json.loads(once(name, lambda: _template(**chosen))), Path(_OUT))


def _template(**chosen: Any) -> str:
    made, _ = stack(**chosen)
    return json.dumps(Template.from_stack(made).to_json()["Resources"])


def listed(value: object) -> list:
    return value if isinstance(value, list) else [value]


def text(value: object) -> str:
    """A property with its references as ``<Name.Attribute>``."""
    match value:
        case {"Ref": name}:
            return f"<{name}>"
        case {"Fn::GetAtt": [name, attribute]}:
            return f"<{name}.{attribute}>"
        case {"Fn::If": [condition, value, otherwise]}:
            name = re.fullmatch(r"\w*?(InGovCloud)[0-9A-F]{8}", condition)[1]
            return f"<{name} ? {text(value)} : {text(otherwise)}>"
        case {"Fn::Join": [between, parts]}:
            return between.join(text(part) for part in parts)
        case _:
            return str(value)


KINDS = {"": "", "table": "", "schedule": "schedules/", "rule": "rules/", "event-bus": "bus/"}


def named(synthesised, resource):
    """A resource in the words of docs/security.md."""
    name_or_arn = text(resource)
    if ":log-group:" in name_or_arn:
        return f"logs/{name_or_arn.partition('/aws/lambda/duetime-')[2]}"
    if found := re.fullmatch(r"<(\w+)\.?(\w*)>(.*)", name_or_arn):
        properties = synthesised.resources[found[1]]["Properties"]
        names = (properties.get(name) for name in ("TableName", "QueueName", "FunctionName", "TopicName"))
        name = next((name.removeprefix("duetime-") for name in names if name), "wakes")
        stream = "/stream" if found[2] == "StreamArn" else ""
        stream = "/topic" if "TopicName" in properties else stream
        return f"{name}{stream}{found[3].replace('/index', '')}"
    *kind, rest = name_or_arn.rpartition(":")[2].split("/", 1)
    return KINDS["".join(kind)] + rest.removeprefix("duetime-").replace("/index", "")


def _mentioned(value: object) -> Iterator[str]:
    match value:
        case {"Ref": str(name)}:
            yield name
        case {"Fn::GetAtt": [str(name), *_]}:
            yield name
        case dict():
            yield from listed(value.get("DependsOn", []))
            for nested in value.values():
                yield from _mentioned(nested)
        case list():
            for nested in value:
                yield from _mentioned(nested)
