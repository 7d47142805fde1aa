"""Global modules, which several posts share."""
