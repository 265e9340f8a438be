"""duetime as CDK constructs: one for each concern, and `Duetime` for all. Needs the extra ``cdk``.

::

    the role that wakes dispatch ── deploy, and its check
       └── tables  failures  a due queue for each worker, and for the system
              └── dispatch  sweep  catch up  arm  groups of schedules
                     └── manifests, with their jobs ── workers, the API with its user pool
                            └── alarms of all of it

Everything but the tables depends on the check of their format, so that a deploy over another format fails
early.
"""

from __future__ import annotations

from duetime.cdk.context import from_context
from duetime.cdk.deployment import Deployment
from duetime.cdk.handlers import Handlers
from duetime.cdk.scheduler import Duetime
from duetime.cdk.targets import BatchJobTarget, DurableFunctionTarget, EcsTaskTarget, WebhookTarget

__all__ = [
    "BatchJobTarget",
    "Deployment",
    "Duetime",
    "DurableFunctionTarget",
    "EcsTaskTarget",
    "Handlers",
    "WebhookTarget",
    "from_context",
]
