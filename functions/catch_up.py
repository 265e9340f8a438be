"""The entry point of the catch_up function."""

from duetime.lambdas.logs import write_json_logs
from duetime.lambdas.passes import make_catch_up_handler
from duetime.settings import Settings

write_json_logs()
handler = make_catch_up_handler(Settings.from_env())
