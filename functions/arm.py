"""The entry point of the arm function."""

from duetime.lambdas.cold_start import cold_start

with cold_start():
    from duetime.lambdas.arm import make_handler
    from duetime.lambdas.logs import write_json_logs
    from duetime.settings import Settings
    from duetime.wakeups.arm import MOST_TIMERS

    write_json_logs()
    handler = make_handler(Settings.from_env(), in_phase=True, most_timers=MOST_TIMERS)
