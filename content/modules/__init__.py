"""Global modules, and module groups made by users."""
