"""The bench: what duetime costs, each figure beside its reference from the same run. ``python -m bench`` runs it."""
