"""The tables in one SQLite file: DynamoDB's requests, answered without AWS."""
