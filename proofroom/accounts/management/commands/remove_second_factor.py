"""The command that removes the second factors of an account."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from proofroom.accounts.models import User
from proofroom.accounts.queries import find_operator
from proofroom.accounts.services.second_factors import remove_second_factors
from proofroom.core.errors import CmsError


class Command(BaseCommand):
    help = "Remove passkeys, authenticator app and recovery codes of an account that lost them."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("email")

    def handle(self, *args: Any, **options: Any) -> None:
        user = User.objects.filter(email__iexact=options["email"]).first()
        if user is None:
            raise CommandError(f"No account has the email {options['email']}.")
        try:
            removed = remove_second_factors(user=user, actor=find_operator())
        except CmsError as error:
            raise CommandError(error.message) from None
        self.stdout.write(f"Removed {removed} login methods of {user.email}.")
