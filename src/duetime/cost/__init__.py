"""The monthly price of a deployment, line by line, from a workload and a dated price list.

`workload` holds the input, `units` the units that an action takes of each service, `quantities` those of a
workload, and `prices` the price of a unit. `estimate` adds them up, and prices the same work with other AWS
services and other ways of billing. No module calls AWS.
"""
