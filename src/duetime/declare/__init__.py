"""What users register (handlers, jobs, resources) and how a handler is invoked."""
