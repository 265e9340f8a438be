"""The console: a function that serves its files, at the URL that people have the API at, so page and API are one origin."""

from __future__ import annotations

from datetime import timedelta

from aws_cdk import Stack
from constructs import Construct

from duetime.cdk.bundle import Bundle
from duetime.cdk.deployment import Deployment
from duetime.cdk.functions import DuetimeFunction, FunctionSpec
from duetime.cdk.gateway import Gateway
from duetime.console import BUILT, ConsoleConfig, Site
from duetime.console.site import ASSETS, CONFIG, PAGE
from duetime.environment import ConsoleEnvironment
from duetime.errors import DuetimeError
from duetime.lambdas.console import FILE

_TIMEOUT = timedelta(seconds=10)
_OPEN = "The console's files, the same for everybody: nothing of any tenant. Whoever sees them signs in to see more."


class ConsoleNotBuilt(DuetimeError, RuntimeError):
    """There is no page to be deployed."""

    code = "console-not-built"

    def __init__(self) -> None:
        super().__init__(
            "the console's page is not built; `make console` builds it, and console=false leaves the console out"
        )


class Console(Construct):
    """Serves the page, what it must know of where it is, and its assets; to everybody, and with no right to anything.

    Raises:
        ConsoleNotBuilt: there is no page.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        name: str,
        place: ConsoleEnvironment,
        *,
        people: Gateway,
        deployment: Deployment,
    ) -> None:
        super().__init__(scope, construct_id)
        if Stack.of(self).bundling_required and not Site(ConsoleConfig(api=""), BUILT).is_built:
            raise ConsoleNotBuilt
        duty = FunctionSpec(
            name=name,
            about="serves the console",
            entry="console",
            timeout=_TIMEOUT,
            environment=place.to_env(),
            rights=(),
        )
        code = Bundle.of(deployment, has_console=True).code()
        self.function = DuetimeFunction(self, "Serve", duty, code, deployment).function
        for path in (PAGE, CONFIG, f"{ASSETS}{{{FILE}}}"):
            people.serve_openly(path, self.function, _OPEN)
