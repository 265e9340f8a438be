"""The first deployment: with a job every ten seconds, and one each minute."""

from duetime import App, Run
from errands import always

app = App()
app.include(always)


@app.job("every 10s", name="errands-tick", timeout=always.BRIEFLY)
def tick(run: Run) -> None:
    """Be on time."""
    run.log.info("tick")


@app.job("* * * * *", name="errands-round", timeout=always.BRIEFLY)
def go_round(run: Run) -> None:
    """Go round."""
    run.log.info("round")
