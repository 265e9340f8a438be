"""Adopt a table that DynamoDB restored, and account for the time between the restore point and now."""
