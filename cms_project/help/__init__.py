"""The help in the admin: pages and images of `docs/`. No other files are served."""
