"""Each Lambda function imports only the modules that it needs."""

import json
import subprocess
import sys

import pytest

_PRINT_MODULES = (
    "import json, sys;"
    " print(json.dumps(sorted({name.partition('.')[0] for name in sys.modules} | set(sys.modules))))"
)


def loaded_by(code):
    """The modules that a fresh process has loaded after `code`."""
    run = subprocess.run(  # noqa: S603 - our own code
        [sys.executable, "-c", f"{code}\n{_PRINT_MODULES}"], capture_output=True, text=True, check=True
    )
    return set(json.loads(run.stdout.splitlines()[-1]))


def test_importing_duetime_is_lazy():
    assert not loaded_by("import duetime") & {
        "pydantic",
        "boto3",
        "croniter",
        "aws_lambda_powertools",
        "moto",
    }


def test_scheduling_from_another_lambda_loads_no_handler_no_cdk_and_no_moto():
    loaded = loaded_by(
        "from duetime import Payload, Scheduler\n"
        "import duetime.aws\n"
        "class Ping(Payload): n: int\n"
        "Ping(n=1).to_json()"
    )
    assert {"botocore", "pydantic"} <= loaded
    assert not loaded & {"boto3", "moto", "aws_cdk", "croniter", "aws_lambda_powertools", "asyncio"}
    assert not loaded & {
        "duetime.app",
        "duetime.declare.handler",
        "duetime.worker.worker",
        "duetime.memory",
        "duetime.lambdas",
    }


def test_an_app_without_jobs_loads_no_cadence():
    loaded = loaded_by("from duetime import App, Payload, Run\nApp()")
    assert {module for module in loaded if module.startswith("duetime.cadence")} == {
        "duetime.cadence",
        "duetime.cadence.errors",
    }


def test_job_loads_only_its_kinds_of_cadence():
    loaded = loaded_by(
        "from duetime import App, daily\n"
        "app = App()\n"
        "@app.job(daily('09:00'), name='billing-nightly')\n"
        "def nightly() -> None: ...\n"
        "app.manifest.hash"
    )
    assert "duetime.cadence._daily" in loaded
    assert not loaded & {
        "croniter",
        *(f"duetime.cadence.{name}" for name in ("crontab", "weeks_and_months", "_spaced", "eventbridge")),
    }


def test_a_worker_loads_neither_the_claim_of_job_runs_nor_the_api_before_it_needs_them():
    loaded = loaded_by("import duetime.lambdas.work")
    assert "duetime.worker.worker" in loaded
    assert not loaded & {"duetime.worker.claim_job_run", "duetime.jobs.claim_policy", "duetime.api"}


@pytest.mark.parametrize("function", ["arm", "dispatch", "notify", "passes", "undelivered"])
def test_the_functions_without_user_code_load_no_pydantic(function):
    loaded = loaded_by(f"import duetime.lambdas.{function}, duetime.lambdas.logs")
    assert "botocore" in loaded
    assert not loaded & {
        "boto3",
        "pydantic",
        "croniter",
        "moto",
        "duetime.app",
        "duetime.payload",
        "duetime.worker.worker",
    }


def test_public_names_are_complete():
    import duetime  # noqa: PLC0415 - the test is about it

    for name in duetime.__all__:
        assert getattr(duetime, name) is not None
        assert name in dir(duetime)
    with pytest.raises(AttributeError, match="has no attribute 'Nothing'"):
        duetime.Nothing  # noqa: B018
