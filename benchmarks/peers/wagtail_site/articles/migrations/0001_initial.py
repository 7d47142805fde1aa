"""The table of the page type. Which blocks its body knows makes no difference to the table."""

import django.db.models.deletion
import wagtail.fields
from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True
    dependencies = [("wagtailcore", "0094_alter_page_locale")]
    operations = [
        migrations.CreateModel(
            name="ArticlePage",
            fields=[
                (
                    "page_ptr",
                    models.OneToOneField(
                        auto_created=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        parent_link=True,
                        primary_key=True,
                        serialize=False,
                        to="wagtailcore.page",
                    ),
                ),
                ("excerpt", models.TextField()),
                ("body", wagtail.fields.StreamField([])),
            ],
            bases=("wagtailcore.page",),
        )
    ]
