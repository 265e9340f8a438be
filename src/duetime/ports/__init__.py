"""The interfaces that the steps need, written as a specification; back ends implement them.

Types of signatures are imported for type checkers alone, so a function loads only what it uses.
"""
