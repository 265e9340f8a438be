"""The console: a function that serves its files at the URL of the API, so that both have one origin."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

from aws_cdk import Stack
from constructs import Construct

from duetime.cdk.bundle import Bundle
from duetime.cdk.deployment import Deployment
from duetime.cdk.functions import DuetimeFunction, FunctionSpec
from duetime.cdk.gateway import Gateway
from duetime.console import BUILT, ConsoleConfig, Site
from duetime.console.site import ASSETS, CONFIG, PAGE
from duetime.environment import ConsoleEnvironment
from duetime.errors import OperationFailed
from duetime.lambdas.console import FILE

_TIMEOUT = timedelta(seconds=10)
_OPEN = "The console's files contain no data of any tenant; users sign in to see more."


class Console(Construct):
    """Serves the page, its configuration and its assets to everyone. The function has no rights.

    Raises:
        OperationFailed: the page is not built.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        name: str,
        environment: ConsoleEnvironment,
        *,
        people: Gateway,
        deployment: Deployment,
        page: Path = BUILT,
    ) -> None:
        super().__init__(scope, construct_id)
        if Stack.of(self).bundling_required and not Site(ConsoleConfig(api=""), page).is_built:
            raise OperationFailed(
                f"the console's page is not in {page}. A checkout of duetime lacks it until you run"
                " `make setup` there; the wheel of duetime contains it. To omit the console, set"
                ' Deployment(api="people"), or -c duetime:api=people'
            )
        spec = FunctionSpec(
            name=name,
            about="serves the console",
            entry="console",
            timeout=_TIMEOUT,
            environment=environment.to_env(),
            rights=(),
        )
        code = Bundle.for_deployment(deployment, console_page=page).code()
        self.function = DuetimeFunction(self, "Serve", spec, code, deployment).function
        for path in (PAGE, CONFIG, f"{ASSETS}{{{FILE}}}"):
            people.serve_openly(path, self.function, _OPEN)
