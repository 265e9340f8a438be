"""The API beside its workers: it comes after their manifests, and reads the payloads of all."""

import pytest

from duetime.cdk import Handlers
from duetime.cdk.bundle import Bundle
from duetime.errors import DeclarationError, OperationFailed
from tests.infra.synthesis import BILLING, ROOT, synth
from tests.infra.test_bundles import HERE, imported
from tests.infra.test_bundles import what_lambda_has as what_lambda_has  # noqa: PLC0414 - a fixture

REPORTS = Handlers(app="tests.infra.apps.reports:app", worker="reports", source=ROOT)


def test_the_api_comes_after_every_manifest_so_every_type_has_a_route():
    two = synth(handlers=[BILLING, REPORTS])
    manifests = {n for n, resource in two.resources.items() if resource["Type"] == "Custom::DuetimeManifest"}
    [api] = [n for n, name in two.function_names.items() if name == "duetime-api"]
    assert len(manifests) == 3
    assert manifests <= two.depends_on(api)


def test_the_api_reads_the_payloads_of_all_workers(what_lambda_has, tmp_path):
    named = synth(handlers=[BILLING, REPORTS]).environment("api")["DUETIME_APP"]
    assert named == "examples.billing:app tests.infra.apps.reports:app"
    Bundle(HERE, (BILLING, REPORTS), has_api=True).make(tmp_path)
    loaded = imported(tmp_path, what_lambda_has, "api", app=named)
    assert {"examples.billing", "tests.infra.apps.reports", "duetime.api.app"} <= loaded


def test_workers_of_one_package_are_bundled_once(tmp_path):
    other = Handlers(app="examples.others:app", worker="others", source=ROOT)
    Bundle(HERE, (BILLING, other), has_api=True).make(tmp_path)
    assert (tmp_path / "examples" / "billing.py").exists()


def test_two_packages_of_one_name_cannot_serve_one_api(tmp_path):
    (tmp_path / "examples.py").write_text("app = None\n")
    other = Handlers(app="examples:app", worker="others", source=tmp_path)
    with pytest.raises(DeclarationError, match="the name 'examples' too"):
        Bundle(HERE, (BILLING, other), has_api=True).make(tmp_path / "made")


def test_contradictory_requirements_are_rejected_with_the_installers_message(tmp_path):
    workers = []
    for number, pin in enumerate(("six==1.17.0", "six==1.16.0")):
        (tmp_path / f"mine{number}.py").write_text("app = None\n")
        file = tmp_path / f"{number}.txt"
        file.write_text(pin)
        workers.append(Handlers(app=f"mine{number}:app", source=tmp_path, requirements=file))
    with pytest.raises(OperationFailed, match="six"):
        Bundle(HERE, tuple(workers), has_api=True).make(tmp_path / "made")
