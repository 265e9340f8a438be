"""Routes that a deploy has published before this process runs its code."""

from collections import defaultdict

from duetime.model.manifest import Manifest


def publish_route(memory, type_name, version):
    """Publish that the worker ``default`` reads a version of one more type."""
    workers = defaultdict(dict)
    for known in memory.routes.types():
        workers[memory.routes.queue_for(known)][known] = memory.routes.version_of(known)
    workers["default"][type_name] = version
    memory.routes.publish(Manifest(worker, types) for worker, types in workers.items())
