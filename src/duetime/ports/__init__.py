"""The interfaces that the steps need, written as a specification; back ends implement them."""
