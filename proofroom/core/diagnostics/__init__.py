"""Looking into the site that runs: its log, its commands, its answers. Only for who was granted diagnostics."""
