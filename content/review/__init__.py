"""Presents a change to the person who decides on it: word diffs, facts, labels. Pure functions."""
