"""The entry point of the dispatch function."""

from duetime.lambdas.cold_start import cold_start

with cold_start():
    from duetime.lambdas.dispatch import make_handler
    from duetime.lambdas.logs import write_json_logs
    from duetime.settings import Settings

    write_json_logs()
    handler = make_handler(Settings.from_env(), in_phase=True)
