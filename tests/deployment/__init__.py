"""The files of a deployment, and a complete deployment."""
