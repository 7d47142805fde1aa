"""The list of runs, the page of a run and its actions."""
