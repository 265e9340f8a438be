"""The monthly price of a deployment, line by line, from a workload and a dated price list.

`workload` holds the input, `units` the units that an action takes of each service, and `prices` the price of
a unit. `estimate` adds them up. `alternatives` prices the same work with other AWS services, `variants` the
same deployment with other ways of billing. No module calls AWS.
"""
