import django.db.models.deletion
import django.utils.timezone
import uuid
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
        ('proofroom_core', '0001_initial'),
    ]

    operations = [
        migrations.CreateModel(
            name='SenderLease',
            fields=[
                ('id', models.PositiveSmallIntegerField(default=1, primary_key=True, serialize=False)),
                ('holder', models.UUIDField(null=True)),
                ('until', models.DateTimeField(null=True)),
            ],
        ),
        migrations.CreateModel(
            name='Webhook',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('name', models.CharField(max_length=100)),
                ('url', models.CharField(max_length=2000)),
                ('events', models.JSONField(default=list)),
                ('types', models.JSONField(default=list, help_text='Post types; none means all.')),
                ('locales', models.JSONField(default=list, help_text='Languages; none means all.')),
                ('headers', models.JSONField(default=dict, help_text='Sent along; may hold credentials.')),
                ('secret', models.CharField(blank=True, help_text='Empty: AGENT_SECRET.', max_length=200)),
                ('previous_secret', models.CharField(blank=True, max_length=200)),
                ('previous_secret_until', models.DateTimeField(blank=True, null=True)),
                ('is_active', models.BooleanField(default=True)),
                ('is_test', models.BooleanField(default=False, help_text='Told of simulated events too.')),
                ('failing_since', models.DateTimeField(blank=True, null=True)),
                ('disabled_at', models.DateTimeField(blank=True, null=True)),
                ('disabled_reason', models.CharField(blank=True, max_length=300)),
                ('replay_after', models.BigIntegerField(blank=True, null=True)),
                ('replay_until', models.BigIntegerField(blank=True, null=True)),
                ('version', models.PositiveIntegerField(default=1)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('updated_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('made_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['name', 'id'],
            },
        ),
        migrations.CreateModel(
            name='Delivery',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('lane', models.CharField(max_length=120)),
                ('workflow_id', models.CharField(blank=True, max_length=80)),
                ('event_name', models.CharField(max_length=60)),
                ('post_id', models.UUIDField(blank=True, null=True)),
                ('status', models.CharField(choices=[('pending', 'Pending'), ('sending', 'Sending'), ('succeeded', 'Succeeded'), ('failed', 'Failed'), ('cancelled', 'Cancelled')], default='pending', max_length=10)),
                ('attempts', models.PositiveSmallIntegerField(default=0, help_text='Since it was last replayed.')),
                ('next_attempt_at', models.DateTimeField(blank=True, default=django.utils.timezone.now, null=True)),
                ('claimed_until', models.DateTimeField(blank=True, null=True)),
                ('last_status_code', models.PositiveSmallIntegerField(blank=True, null=True)),
                ('last_error', models.CharField(blank=True, max_length=300)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('finished_at', models.DateTimeField(blank=True, null=True)),
                ('event', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='proofroom_core.event')),
                ('webhook', models.ForeignKey(db_constraint=False, null=True, on_delete=django.db.models.deletion.DO_NOTHING, related_name='deliveries', to='proofroom_webhooks.webhook')),
            ],
            options={
                'verbose_name_plural': 'deliveries',
                'indexes': [models.Index(condition=models.Q(('next_attempt_at__isnull', False)), fields=['lane', 'next_attempt_at', 'event'], name='delivery_due'), models.Index(condition=models.Q(('next_attempt_at__isnull', False)), fields=['lane', 'post_id', 'event'], name='delivery_of_post'), models.Index(fields=['webhook', '-created_at'], name='delivery_of_webhook'), models.Index(fields=['status', '-created_at'], name='delivery_by_status'), models.Index(fields=['created_at'], name='delivery_at')],
                'constraints': [models.UniqueConstraint(fields=('lane', 'event'), name='delivery_once')],
            },
        ),
        migrations.CreateModel(
            name='WorkflowSwitch',
            fields=[
                ('workflow_id', models.CharField(max_length=80, primary_key=True, serialize=False)),
                ('is_enabled', models.BooleanField()),
                ('updated_at', models.DateTimeField(auto_now=True)),
                ('updated_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'verbose_name': 'workflow',
                'verbose_name_plural': 'workflows',
            },
        ),
        migrations.CreateModel(
            name='Attempt',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('number', models.PositiveIntegerField()),
                ('at', models.DateTimeField()),
                ('ms', models.PositiveIntegerField()),
                ('status_code', models.PositiveSmallIntegerField(null=True)),
                ('error', models.CharField(blank=True, max_length=300)),
                ('request_headers', models.JSONField(default=dict)),
                ('response_headers', models.JSONField(default=dict)),
                ('response_body', models.TextField(blank=True)),
                ('delivery', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='tries', to='proofroom_webhooks.delivery')),
            ],
            options={
                'ordering': ['number'],
                'constraints': [models.UniqueConstraint(fields=('delivery', 'number'), name='attempt_once')],
            },
        ),
    ]
