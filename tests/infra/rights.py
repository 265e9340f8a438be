"""What statements of a policy allow."""

import re

from tests.infra.synthesis import listed, text


def allowed(statements):
    """(action, resource) of each statement; references by their attribute only."""
    return {
        (action, re.sub(r"<\w+\.(\w+)>", r"<\1>", text(resource)))
        for statement in statements
        if statement["Effect"] == "Allow"
        for action in listed(statement["Action"])
        for resource in listed(statement["Resource"])
    }


def actions(statements):
    return {action for action, _ in allowed(statements)}
