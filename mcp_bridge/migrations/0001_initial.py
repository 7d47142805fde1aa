import django.db.models.deletion
import uuid
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='McpProcess',
            fields=[
                ('key', models.CharField(max_length=8, primary_key=True, serialize=False)),
                ('address', models.CharField(max_length=60)),
                ('seen_at', models.DateTimeField()),
            ],
            options={
                'verbose_name': 'MCP process',
                'verbose_name_plural': 'MCP processes',
            },
        ),
        migrations.CreateModel(
            name='McpCall',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('tool', models.CharField(max_length=128)),
                ('principal', models.CharField(help_text='The credential that made the call.', max_length=100)),
                ('agent_id', models.CharField(blank=True, default='', max_length=100)),
                ('ms', models.PositiveIntegerField()),
                ('ok', models.BooleanField()),
                ('error_code', models.CharField(blank=True, default='', max_length=60)),
                ('request_bytes', models.PositiveIntegerField()),
                ('response_bytes', models.PositiveIntegerField()),
                ('created_at', models.DateTimeField(auto_now_add=True, db_index=True)),
                ('user', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='mcp_calls', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'verbose_name': 'MCP call',
                'verbose_name_plural': 'MCP calls',
                'ordering': ('-created_at', '-pk'),
                'indexes': [models.Index(fields=['tool', '-created_at'], name='mcp_call_by_tool')],
            },
        ),
        migrations.CreateModel(
            name='McpToken',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('name', models.CharField(max_length=100)),
                ('hash', models.CharField(editable=False, max_length=64, unique=True)),
                ('hint', models.CharField(editable=False, max_length=4)),
                ('role', models.CharField(editable=False, max_length=20)),
                ('expires_at', models.DateTimeField(blank=True, null=True)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('last_used_at', models.DateTimeField(blank=True, null=True)),
                ('revoked_at', models.DateTimeField(blank=True, null=True)),
                ('content_scope', models.JSONField(blank=True, default=dict)),
                ('tools', models.JSONField(default=list)),
                ('diagnostics', models.BooleanField(default=False)),
                ('starts_agents', models.BooleanField(db_default=True, default=True)),
                ('made_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='mcp_tokens', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'verbose_name': 'MCP token',
                'ordering': ['-created_at', '-id'],
                'indexes': [models.Index(fields=['-created_at', '-id'], name='mcp_token_newest')],
            },
        ),
    ]
