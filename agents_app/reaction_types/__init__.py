"""The types of reactions that call another system, one per file. Those of apps are in `<app>/reaction_types/`."""
