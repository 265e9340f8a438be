"""The entry point of the console. It loads no libraries."""

from duetime.lambdas.cold_start import cold_start

with cold_start():
    from duetime.environment import ConsoleEnvironment
    from duetime.lambdas.console import make_handler
    from duetime.settings import check_variables

    check_variables()
    handler = make_handler(ConsoleEnvironment.from_env())
