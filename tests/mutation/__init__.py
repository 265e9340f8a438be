"""Mutation tests of what the protocol rests on: conditions of writes, the order of calls, and decisions.

::

    sites           finds the places that give DynamoDB a condition, and marks them
    condition_text  derives the mutants of a condition
    steps           derives the mutants of the order of calls
    logic           derives the mutants of decisions: guards, operands, bounds, fields, instants
    mutant          all kinds as one
    differences     marks the decisions, and notes which mutants would differ in a test
    instrument      imports the package with its conditions marked; replaces a function in this process
    wire            records the conditions on their way to DynamoDB, or changes one
    session         collects the tests once, and runs them in children
    coverage_map    which tests reach which functions and conditions
    run             the command

Common mutation tools change Python's syntax everywhere; they know neither the conditions in its strings, nor
which calls have an effect, nor which instants a lease may not be counted from.

No file is changed: a child process changes its own memory, runs tests until one fails, and ends.
"""
