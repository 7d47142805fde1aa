"""Sample content for a fresh installation.

It is created through the services; texts are files here, images are drawn.
"""
