"""The built-in provider "Demo (no AI)": rules instead of a model, so that everything works without a
key.

Its answers use the same parsing, validation and staging as a model's, and its tools the same
toolbox. It is deterministic: the same post and question give the same answer.
"""
