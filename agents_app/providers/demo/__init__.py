"""The built-in provider "Demo (no AI)": rules in place of a model, so that everything runs without a key.

Its answers go through the same parsing, validation and staging as those of a model, and its tools through the same
toolbox. Same post and same question, same answer.
"""
