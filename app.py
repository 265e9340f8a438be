"""The app of ``cdk deploy``. Settings are in cdk.json; ``-c duetime:<setting>=…`` overrides one."""

import sys

import aws_cdk as cdk

from duetime.cdk import from_context
from duetime.errors import DuetimeError
from infra.stack import DuetimeStack

app = cdk.App()
try:
    settings, deployment = from_context(app.node)
    name = f"{settings.prefix}scheduler".replace("_", "-")
    DuetimeStack(app, name, settings=settings, deployment=deployment)
except DuetimeError as error:
    sys.exit(f"{type(error).__name__}: {error}")  # the message, without CDK's traceback
app.synth()
