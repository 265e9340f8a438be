"""The entry point of the sweep function."""

from duetime.lambdas.cold_start import cold_start

with cold_start():
    from duetime.environment import instance_name
    from duetime.lambdas.logs import write_json_logs
    from duetime.lambdas.passes import make_sweep_handler
    from duetime.settings import Settings

    write_json_logs()
    handler = make_sweep_handler(Settings.from_env(), instance=instance_name(), in_phase=True)
