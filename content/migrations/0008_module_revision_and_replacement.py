import uuid

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("content", "0007_feedback"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="ModuleGroup",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=uuid.uuid4, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("name", models.SlugField(max_length=80, unique=True)),
                ("label", models.CharField(max_length=200)),
                ("description", models.CharField(blank=True, default="", max_length=500)),
                ("post_type", models.SlugField(max_length=60)),
                ("modules", models.JSONField(default=list)),
                ("version", models.PositiveIntegerField(default=1)),
                ("updated_at", models.DateTimeField(auto_now=True)),
            ],
            options={
                "ordering": ["name"],
            },
        ),
        migrations.AddField(
            model_name="moduleinstance",
            name="version",
            field=models.PositiveIntegerField(default=1),
        ),
        migrations.CreateModel(
            name="Replacement",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=uuid.uuid4, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("find", models.TextField()),
                ("replace", models.TextField(blank=True)),
                ("case_sensitive", models.BooleanField(default=True)),
                ("tables", models.JSONField(default=list)),
                ("counts", models.JSONField(default=dict)),
                ("total", models.PositiveIntegerField(default=0)),
                ("by_name", models.CharField(blank=True, default="", max_length=150)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("undone_at", models.DateTimeField(blank=True, null=True)),
                (
                    "by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="ReplacedPlace",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("table", models.CharField(max_length=40)),
                ("row", models.CharField(max_length=80)),
                ("field", models.TextField()),
                ("before", models.JSONField()),
                ("after", models.JSONField()),
                (
                    "replacement",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="places",
                        to="content.replacement",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="ModuleRevision",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=uuid.uuid4, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("version", models.PositiveIntegerField()),
                ("label", models.CharField(blank=True, max_length=200)),
                ("props", models.JSONField(default=dict)),
                ("reason", models.CharField(max_length=40)),
                ("by_name", models.CharField(blank=True, default="", max_length=150)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "instance",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="revisions",
                        to="content.moduleinstance",
                    ),
                ),
            ],
            options={
                "ordering": ["-version"],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("instance", "version"), name="module_revision_once_per_version"
                    )
                ],
            },
        ),
        migrations.AddIndex(
            model_name="replacement",
            index=models.Index(fields=["-created_at", "id"], name="replacement_latest"),
        ),
    ]
