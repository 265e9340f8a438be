"""The OpenAPI document of the admin API, made of its routes and of the models that they take and give.

`document` is the whole, `operations` tells one route, `inputs` what it takes, `refusals` what it may refuse, `schemas` the
models, and `names` has each operation's name. `route` serves it, and imports the rest only when somebody asks.
"""
