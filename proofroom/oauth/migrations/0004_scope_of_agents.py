from django.db import migrations, models


def keep_agents(apps, schema_editor):
    """Let the clients that are connected already start agents, which the scope `propose` included."""
    apps.get_model("proofroom_oauth", "OAuthConnection").objects.update(propose_starts_agents=True)


class Migration(migrations.Migration):
    dependencies = [("proofroom_oauth", "0003_oauthconnection_content_scope")]

    operations = [
        migrations.AddField(
            model_name="oauthconnection",
            name="propose_starts_agents",
            field=models.BooleanField(db_default=False, default=False),
        ),
        migrations.RunPython(keep_agents, migrations.RunPython.noop),
    ]
