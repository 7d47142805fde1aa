from django.db import migrations


def confirm_emails(apps, schema_editor):
    """Accounts that were there before: an administrator made each, so its email counts as confirmed."""
    User = apps.get_model("proofroom_accounts", "User")
    EmailAddress = apps.get_model("account", "EmailAddress")
    known = EmailAddress.objects.values("user_id")
    missing = User.objects.exclude(pk__in=known).exclude(role="ai_agent")
    EmailAddress.objects.bulk_create(
        [
            EmailAddress(user_id=pk, email=email, verified=True, primary=True)
            for pk, email in missing.values_list("pk", "email")
        ],
        batch_size=500,
    )


class Migration(migrations.Migration):

    dependencies = [
        ("proofroom_accounts", "0004_sign_in"),
        ("account", "0009_emailaddress_unique_primary_email"),
    ]

    operations = [migrations.RunPython(confirm_emails, migrations.RunPython.noop)]
