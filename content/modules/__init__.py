"""Global modules, and module groups that people make."""
