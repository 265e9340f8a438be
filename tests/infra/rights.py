"""What statements of a policy allow."""

import re

from tests.infra.synthesis import listed, text


def allowed(statements):
    """(action, resource) of each statement; references by their attribute only."""
    return {
        (action, re.sub(r"<\w+\.(\w+)>", r"<\1>", text(resource)))
        for each in statements
        if each["Effect"] == "Allow"
        for action in listed(each["Action"])
        for resource in listed(each["Resource"])
    }


def actions(statements):
    return {action for action, _ in allowed(statements)}
