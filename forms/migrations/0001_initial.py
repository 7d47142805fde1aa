import uuid
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
    ]

    operations = [
        migrations.CreateModel(
            name='FormDefinition',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('slug', models.SlugField(db_index=False, max_length=100)),
                ('locale', models.CharField(max_length=12)),
                ('title', models.CharField(max_length=200)),
                ('description', models.TextField(blank=True, max_length=2000)),
                ('fields', models.JSONField(default=list)),
                ('submit_label', models.CharField(max_length=100)),
                ('success_message', models.TextField(max_length=1000)),
                ('redirect_url', models.CharField(blank=True, max_length=2048)),
                ('version', models.PositiveIntegerField(default=1)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('updated_at', models.DateTimeField(auto_now=True)),
            ],
            options={
                'verbose_name': 'form',
                'ordering': ['slug', 'locale'],
                'constraints': [models.UniqueConstraint(fields=('slug', 'locale'), name='form_once_per_locale')],
            },
        ),
        migrations.CreateModel(
            name='FormSubmission',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('form_slug', models.SlugField(db_index=False, max_length=100)),
                ('locale', models.CharField(max_length=12)),
                ('payload', models.JSONField(default=dict)),
                ('event_ids', models.JSONField(default=list)),
                ('created_at', models.DateTimeField()),
            ],
            options={
                'verbose_name': 'submission',
                'indexes': [models.Index(fields=['form_slug', '-created_at', '-id'], name='submission_newest'), models.Index(fields=['created_at'], name='submission_age')],
            },
        ),
    ]
