"""The page on metrics and logs, held against what there is."""

import re
from pathlib import Path

from duetime.model.metric import NAMESPACE, Metric

PAGE = (Path(__file__).parents[2] / "docs/observability.md").read_text()
ROW = re.compile(r"^\| `(\w+)` \| (\w+) \| ([\w, ]*)\| .+ \| .+ \|$", re.MULTILINE)
OF_THE_DEPLOYMENT = {Metric.CANARY_LATENESS, Metric.CATCH_UP_SENT, Metric.UNDELIVERED, Metric.OLDEST_DUE_AGE}


def test_the_table_has_each_metric_with_its_unit_and_dimensions():
    documented = {(name, unit, dimensions.strip()) for name, unit, dimensions in ROW.findall(PAGE)}
    assert documented == {
        (metric.value, metric.unit.value, "" if metric in OF_THE_DEPLOYMENT else "type, tenant")
        for metric in Metric
    }


def test_the_page_names_the_namespace():
    assert f"The namespace is `{NAMESPACE}`" in PAGE
