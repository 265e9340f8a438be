"""What a deployment costs: a workload and a dated price list become lines of dollars a month.

`workload` says what is asked, `units` what each action takes of every service, `prices` what a unit costs, `estimate` adds
it up, and `alternatives` does the same for what one could take instead. Nothing here asks AWS for anything.
"""
