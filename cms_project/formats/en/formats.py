"""The admin's one form of a moment, in UTC. Pages for visitors keep Django's form of a date."""

DATETIME_FORMAT = "Y-m-d H:i"
