"""What the callers and operators of a world do, each with its weight."""

from contextlib import suppress
from datetime import timedelta

from duetime.actions.order import Order
from duetime.errors import BackendUnavailable, KeyConflict
from duetime.jobs.register import Registration
from duetime.model.action import Status
from tests.proof.shop import Errand, Nobody, Poison

MINUTE = timedelta(minutes=1)
ENDS = [
    ("well",),
    ("well",),
    ("well",),
    ("badly",),
    ("again", "well"),
    ("badly", "badly", "well"),
    ("fatally",),
    ("committed",),
    ("committed",),
    ("committed, then badly",),
    ("refused", "committed"),
]
OWN = "own-report"


def schedule(world, tenant, scheduler):
    draw = world.draw
    kind = draw.choices(["errand", "nobody", "poison"], [30, 1, 1])[0]
    payload = {"errand": an_errand(draw), "nobody": Nobody(), "poison": Poison()}[kind]
    correlation_id = "c" if draw.random() < 0.2 else None
    more = {"correlation_id": correlation_id, "expires_after": world.expiry()}
    more["priority"] = world.policies.priority()
    world.made[tenant].append(scheduler.schedule(payload, at=soon(draw), **more).id)


def an_errand(draw):
    return Errand(lasts=draw.choice([0, 0, 0, 0, 5, 45, 400]), ends=draw.choice(ENDS))


def soon(draw):
    return timedelta(seconds=draw.choice([-30, 0, 0.4, 7, 61.5, 300, 899, 1_000, 2_400, 4_000]))


def schedule_in_turn(world, tenant, scheduler):
    """Under a concurrency key that several share, each with a limit of its own."""
    draw = world.draw
    at = soon(draw)
    for _ in range(draw.randrange(1, 4)):
        errand = Errand(lasts=draw.choice([5, 45, 400]), ends=draw.choice(ENDS))
        limit = draw.choice([1, 1, 2])
        keyed = {"concurrency_key": "till", "concurrency_limit": limit, "expires_after": world.expiry()}
        action = scheduler.schedule(errand, at=at, **keyed)
        world.made[tenant].append(action.id)


def schedule_some(world, tenant, scheduler):
    for _ in range(world.draw.randrange(1, 4)):
        schedule(world, tenant, scheduler)


def schedule_in_bulk(world, tenant, scheduler):
    """With one call; after an error or to be sure, with other actions again."""
    orders = [Order(an_errand(world.draw), soon(world.draw)) for _ in range(world.draw.randrange(2, 12))]
    world.made[tenant] += [action.id for action in scheduler.schedule_many(orders)]


def schedule_once(world, tenant, scheduler):
    """Under an idempotency key, a new one or a former.

    After an error, or to be sure, with the same key again.
    """
    keys, draw = world.keys[tenant], world.draw
    is_former = keys.keys and draw.random() < 0.6
    key = keys.previous(draw) if is_former else keys.new(an_errand(draw), draw)
    for _ in range(draw.choice([1, 1, 2, 3])):
        other = an_errand(draw) if draw.random() < 0.1 else None
        with suppress(BackendUnavailable, KeyConflict):
            world.made[tenant].append(key.schedule(scheduler, soon(draw), other).id)


def of_an_action(do):
    def operation(world, tenant, scheduler):
        if world.made[tenant]:
            do(world, scheduler, world.draw.choice(world.made[tenant][-12:]))

    operation.__name__ = do.__name__
    return operation


@of_an_action
def cancel(world, scheduler, action):
    scheduler.cancel(action)


@of_an_action
def reschedule(world, scheduler, action):
    scheduler.reschedule(action, timedelta(seconds=world.draw.choice([0, 100, 1_500])))


@of_an_action
def redrive(world, scheduler, action):
    scheduler.redrive(action)


def cancel_what_runs(world, tenant, scheduler):
    running = [row for row in world.cloud.actions(Status.PROCESSING) if row.tenant_id == tenant]
    if running:
        scheduler.cancel(world.draw.choice(running).id)


def of_a_job(do):
    def operation(world, tenant, scheduler):
        names = [job.name for job in scheduler.jobs.list() if not job.definition.self_scheduled]
        if names:
            do(world, scheduler, world.draw.choice(names))

    operation.__name__ = do.__name__
    return operation


@of_a_job
def pause(world, scheduler, job):
    until = world.draw.choice([None, 17 * MINUTE])
    cadences = list(scheduler.jobs.get(job).cadence_set.by_name)
    scheduler.jobs.pause(job, until=until, cadence=world.draw.choice([None, None, *cadences]))


@of_a_job
def resume(world, scheduler, job):
    for cadence in list(scheduler.jobs.get(job).pauses):
        scheduler.jobs.resume(job, cadence=cadence or None)


@of_a_job
def trigger(world, scheduler, job):
    scheduler.jobs.trigger(job)


@of_a_job
def skip_next(world, scheduler, job):
    scheduler.jobs.skip_next(job)


@of_a_job
def cancel_a_run(world, scheduler, job):
    rows = [row for row in scheduler.jobs.history(job, limit=5) if not row.status.is_final]
    if rows:
        scheduler.cancel(world.draw.choice(rows).id)


def register(world, tenant, scheduler):
    every = world.draw.choice([["every 15m"], ["every 20m"]])
    scheduler.jobs.register(
        Registration(name=OWN, handler=Errand(lasts=world.draw.choice([0, 30])), cadences=every, replace=True)
    )


def unregister(world, tenant, scheduler):
    scheduler.jobs.unregister(OWN)


def deploy(world, tenant, scheduler):
    world.policies.deploy(world)


OPERATIONS, WEIGHTS = zip(
    *{
        schedule: 8,
        schedule_some: 6,
        schedule_in_bulk: 2,
        schedule_in_turn: 2,
        schedule_once: 4,
        cancel: 2,
        cancel_what_runs: 2,
        reschedule: 2,
        redrive: 2,
        pause: 2,
        resume: 3,
        trigger: 2,
        skip_next: 1,
        cancel_a_run: 1,
        register: 1,
        unregister: 1,
        deploy: 3,
    }.items(),
    strict=True,
)
