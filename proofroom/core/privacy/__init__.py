"""Personal data: what the site holds about people, how long, and what it stores in their browsers.

Each app declares its own in `<app>/personal_data.py`, see `declarations`.
"""
