"""The bench: duetime's costs, each figure beside its reference from the same run. ``python -m bench`` runs it."""
