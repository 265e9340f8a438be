"""The roles of the processes: each hosts a deployed handler, and stands for the service that invokes it."""
