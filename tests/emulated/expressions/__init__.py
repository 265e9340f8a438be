"""DynamoDB's expressions, compiled to functions of an item's attributes, for back ends without DynamoDB."""
