"""A shop that reminds customers of unpaid orders."""
