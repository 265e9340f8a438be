"""The stack: the orders, the scheduler, and the worker that runs `shop.handlers`."""

from pathlib import Path

from aws_cdk import App, Stack
from aws_cdk import aws_dynamodb as dynamodb
from constructs import Construct
from duetime.cdk import Deployment, Duetime, Handlers
from duetime.settings import Settings

from shop.orders import TABLE


class Shop(Stack):
    """The shop's resources."""

    def __init__(self, scope: Construct, name: str) -> None:
        """Create them."""
        super().__init__(scope, name)
        orders = dynamodb.TableV2(
            self,
            "Orders",
            table_name=TABLE,
            partition_key=dynamodb.Attribute(name="id", type=dynamodb.AttributeType.STRING),
        )
        scheduler = Duetime(
            self,
            "Scheduler",
            settings=Settings(prefix="shop-duetime-"),
            deployment=Deployment(api="services"),
            handlers=[Handlers(app="shop.handlers:app", source=Path("src"))],
        )
        orders.grant_read_write_data(scheduler.worker("default"))


app = App()
Shop(app, "Shop")
app.synth()
