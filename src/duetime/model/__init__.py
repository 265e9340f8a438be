"""What rows, messages and events are made of: values without I/O and without a clock."""
