"""The bench: duetime's costs, each beside its reference from the same run (``python -m bench``)."""
