import django.db.models.deletion
import django.db.models.functions.text
import proofroom.accounts.models
import proofroom.accounts.roles
import proofroom.core.i18n.languages
import proofroom.core.i18n.time_zones
import uuid
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
    ]

    operations = [
        migrations.CreateModel(
            name='User',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('password', models.CharField(max_length=128, verbose_name='password')),
                ('last_login', models.DateTimeField(blank=True, null=True, verbose_name='last login')),
                ('email', models.EmailField(max_length=254, unique=True)),
                ('username', models.CharField(max_length=150, unique=True, validators=[proofroom.accounts.models.validate_username])),
                ('role', models.CharField(default=proofroom.accounts.roles.Role['EDITOR'], max_length=20, validators=[proofroom.accounts.models.validate_role])),
                ('agent_id', models.SlugField(blank=True, help_text='The agent that this account writes for, if any.', max_length=80)),
                ('is_active', models.BooleanField(default=True)),
                ('session_epoch', models.PositiveIntegerField(default=0, editable=False, help_text='Grows with what ends every session of the account.')),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('erased_at', models.DateTimeField(blank=True, editable=False, help_text='When its personal data was erased.', null=True)),
            ],
            options={
                'verbose_name': 'account',
                'ordering': ['email'],
                'constraints': [models.UniqueConstraint(django.db.models.functions.text.Lower('email'), name='user_email_any_case'), models.UniqueConstraint(condition=models.Q(('agent_id', ''), _negated=True), fields=('agent_id',), name='user_one_per_agent')],
            },
        ),
        migrations.CreateModel(
            name='ApiToken',
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
                ('permissions', models.JSONField(default=list)),
            ],
            options={
                'verbose_name': 'API token',
                'ordering': ['-created_at', '-id'],
                'indexes': [models.Index(fields=['-created_at', '-id'], name='api_token_newest')],
            },
        ),
        migrations.CreateModel(
            name='Invitation',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('email', models.EmailField(max_length=254)),
                ('role', models.CharField(max_length=20, validators=[proofroom.accounts.models.validate_role])),
                ('hash', models.CharField(editable=False, max_length=64, unique=True)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('expires_at', models.DateTimeField()),
                ('accepted_at', models.DateTimeField(blank=True, null=True)),
                ('revoked_at', models.DateTimeField(blank=True, null=True)),
            ],
            options={
                'verbose_name': 'invitation',
                'ordering': ['-created_at', '-id'],
            },
        ),
        migrations.CreateModel(
            name='LoginDevice',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('key', models.CharField(editable=False, max_length=64)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
            ],
            options={
                'verbose_name': 'login device',
            },
        ),
        migrations.CreateModel(
            name='SiteRole',
            fields=[
                ('name', models.CharField(editable=False, max_length=20, primary_key=True, serialize=False)),
                ('is_built_in', models.BooleanField(default=False, editable=False)),
                ('label', models.CharField(blank=True, max_length=60)),
                ('description', models.CharField(blank=True, max_length=200)),
                ('permissions', models.JSONField(default=list)),
                ('content_scope', models.JSONField(blank=True, default=dict)),
                ('requires_second_factor', models.BooleanField(default=False)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
            ],
            options={
                'verbose_name': 'role',
                'ordering': ['-is_built_in', 'label', 'name'],
                'constraints': [models.UniqueConstraint(django.db.models.functions.text.Lower('label'), condition=models.Q(('label', ''), _negated=True), name='role_label_any_case')],
            },
        ),
        migrations.CreateModel(
            name='Preferences',
            fields=[
                ('user', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='preferences', serialize=False, to=settings.AUTH_USER_MODEL)),
                ('time_zone', models.CharField(blank=True, max_length=64, validators=[proofroom.core.i18n.time_zones.validate_time_zone])),
                ('language', models.CharField(blank=True, max_length=10, validators=[proofroom.core.i18n.languages.validate_language])),
                ('theme', models.CharField(choices=[('auto', 'System'), ('light', 'Light'), ('dark', 'Dark')], default='auto', max_length=5)),
                ('density', models.CharField(choices=[('comfortable', 'Comfortable'), ('compact', 'Compact')], default='comfortable', max_length=11)),
                ('has_letter_keys', models.BooleanField(default=True, help_text='Whether single letters are keyboard shortcuts.')),
            ],
            options={
                'verbose_name': 'preferences',
                'verbose_name_plural': 'preferences',
            },
        ),
        migrations.AddField(
            model_name='apitoken',
            name='made_by',
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddField(
            model_name='apitoken',
            name='user',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='api_tokens', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddField(
            model_name='invitation',
            name='invited_by',
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddField(
            model_name='logindevice',
            name='user',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='login_devices', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddConstraint(
            model_name='logindevice',
            constraint=models.UniqueConstraint(fields=('user', 'key'), name='login_device_once'),
        ),
    ]
