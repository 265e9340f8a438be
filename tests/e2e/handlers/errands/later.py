"""A later deployment: one job comes at other times, one is gone."""

from duetime import App, Run
from errands import always

app = App()
app.include(always)


@app.job("*/2 * * * *", name="errands-round", timeout=always.BRIEFLY)
def go_round(run: Run) -> None:
    """Go round."""
    run.log.info("round")
