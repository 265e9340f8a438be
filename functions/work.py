"""The entry point of a worker. It runs the handlers of the app in ``DUETIME_APP``."""

from duetime.lambdas.cold_start import cold_start

with cold_start():
    from duetime.environment import instance_name
    from duetime.lambdas.loading import load_app
    from duetime.lambdas.logs import write_json_logs
    from duetime.lambdas.work import make_handler
    from duetime.settings import Settings

    write_json_logs()
    settings = Settings.from_env()
    handler = make_handler(settings, load_app(settings.app).handler_set, instance=instance_name())
