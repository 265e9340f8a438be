"""The app: what duetime runs when it is due."""

from duetime import App, Run
from duetime.errors import CommitRejected

from shop.orders import TABLE, Remind

app = App()


@app.action
def remind(payload: Remind, run: Run) -> None:
    """Mark an unpaid order as reminded, in the transaction that ends this action."""
    try:
        run.commit(
            [
                {
                    "Update": {
                        "TableName": TABLE,
                        "Key": {"id": {"S": payload.order}},
                        "UpdateExpression": "SET #state = :reminded",
                        "ConditionExpression": "#state = :unpaid",
                        "ExpressionAttributeNames": {"#state": "state"},
                        "ExpressionAttributeValues": {
                            ":unpaid": {"S": "unpaid"},
                            ":reminded": {"S": "reminded"},
                        },
                    }
                }
            ]
        )
    except CommitRejected:
        run.log.info("order %s is paid", payload.order)
