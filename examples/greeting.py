"""The app that `cdk deploy` deploys until you name yours: one action and no job. Nothing runs by itself."""

from duetime import App, Payload, Run

app = App()


class SendGreeting(Payload):
    """A greeting, to be sent when it is due."""

    name: str


@app.action
def send_greeting(payload: SendGreeting, run: Run) -> None:
    """Write the greeting to the worker's log."""
    run.log.info("hello, %s", payload.name)
