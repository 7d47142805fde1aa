"""The admin pages of quality: figures, decided changes, evaluations, and versions of an agent."""
