from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("mcp_bridge", "0003_token_scopes")]

    operations = [
        migrations.AddField(
            model_name="mcptoken",
            name="starts_agents",
            field=models.BooleanField(db_default=True, default=True),
        ),
    ]
