#!/usr/bin/env python
"""The command line of the project: `./manage.py help` lists the commands."""

import sys


def main() -> None:
    from django.core.exceptions import ImproperlyConfigured
    from django.core.management import execute_from_command_line

    from cms_project.settings_module import choose_settings

    try:
        choose_settings()
    except ImproperlyConfigured as error:
        sys.exit(str(error))
    execute_from_command_line(sys.argv)


if __name__ == "__main__":
    main()
