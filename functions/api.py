"""The entry point of the API. It validates payloads with the models of the apps in ``DUETIME_APP``."""

from duetime.lambdas.cold_start import cold_start

with cold_start():
    from duetime.environment import runbook_place, worker_concurrency
    from duetime.lambdas.api import make_handler
    from duetime.lambdas.loading import load_apps
    from duetime.lambdas.logs import write_json_logs
    from duetime.settings import Settings

    write_json_logs()
    settings = Settings.from_env()
    handler = make_handler(
        settings,
        load_apps(settings.app),
        runbook=runbook_place(),
        worker_concurrency=worker_concurrency(),
    )
