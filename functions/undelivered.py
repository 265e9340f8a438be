"""The entry point of the function `undelivered`, which redrives or stores inputs."""

from duetime.lambdas.cold_start import cold_start

with cold_start():
    from duetime.lambdas.logs import write_json_logs
    from duetime.lambdas.undelivered import make_handler
    from duetime.settings import Settings

    write_json_logs()
    handler = make_handler(Settings.from_env())
