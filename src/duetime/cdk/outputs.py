"""The stack's outputs: what an operator needs after a deploy, under short names."""

from __future__ import annotations

from typing import TYPE_CHECKING

import jsii
from aws_cdk import Aspects, CfnOutput, IAspect, Stack
from constructs import Construct, IConstruct

if TYPE_CHECKING:
    from duetime.cdk.api import Api
    from duetime.cdk.scheduler import Duetime


class Outputs(Construct):
    """The outputs of a scheduler: names of tables, URLs of queues and of the API, the user pool.

    Each is named as in the stack of this project, such as ``ActionsTable``. If the app itself has an output
    of that name, or a second scheduler is in the stack, the output has the construct's path before its name.
    """

    def __init__(self, scope: Construct, construct_id: str, scheduler: Duetime) -> None:
        super().__init__(scope, construct_id)
        self.by_name = {
            name: CfnOutput(self, name, value=value, description=_ABOUT.get(name))
            for name, value in _values(scheduler).items()
        }
        """The outputs by their short names."""
        Aspects.of(self).add(_ShortNames(self))


@jsii.implements(IAspect)
class _ShortNames:
    """Gives each output its short name if it is free. It runs when the stack is complete."""

    def __init__(self, outputs: Outputs) -> None:
        self._outputs = outputs

    def visit(self, node: IConstruct) -> None:
        """Name the outputs, once."""
        if node is not self._outputs:
            return
        stack, ours = Stack.of(node), self._outputs.by_name
        others = [part for part in stack.node.find_all() if isinstance(part, CfnOutput)]
        taken = {output.logical_id for output in others if Stack.of(output) is stack}
        resolved = {stack.resolve(name) for name in taken}
        for name, output in ours.items():
            if name not in resolved:
                output.override_logical_id(name)


_ABOUT = {
    "Api": "for people: with an ID token",
    "SignedApi": "for services: with a signature",
    "Console": "in a browser",
}


def _values(scheduler: Duetime) -> dict[str, str]:
    values = {
        "ActionsTable": scheduler.tables.actions.table_name,
        "JobsTable": scheduler.tables.jobs.table_name,
        "Failures": scheduler.failures.queue_url,
    }
    if scheduler.alarms.topic is not None:
        values["Alarms"] = scheduler.alarms.topic.topic_arn
    if scheduler.notifications is not None and scheduler.notifications.topic is not None:
        values["Notifications"] = scheduler.notifications.topic.topic_arn
    return values | (_of_api(scheduler.api) if scheduler.api else {})


def _of_api(api: Api) -> dict[str, str]:
    values = {"SignedApi": api.services.url}
    if api.people is not None:
        values["Api"] = api.people.url
        if api.console is not None:
            values["Console"] = f"{api.people.address}/"
    if api.users is not None:
        values["UserPool"] = api.users.pool.user_pool_id
        if api.users.sign_in_url:
            values["SignIn"] = api.users.sign_in_url
    if api.client is not None:
        values["UserPoolClient"] = api.client.user_pool_client_id
    return values
