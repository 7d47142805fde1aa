import django.db.models.deletion
import oauth2_provider.generators
import oauth2_provider.models
import uuid
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    # The library's tables refer to the clients.
    run_before = [('oauth2_provider', '0001_initial')]

    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='OAuthClientKeys',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('client_id', models.CharField(max_length=255, unique=True)),
                ('jwks_uri', models.CharField(blank=True, max_length=500)),
                ('jwks', models.JSONField(default=dict)),
                ('is_required', models.BooleanField(default=False)),
                ('read_at', models.DateTimeField(auto_now=True)),
            ],
            options={
                'verbose_name': 'keys of an AI client',
                'verbose_name_plural': 'keys of AI clients',
            },
        ),
        migrations.CreateModel(
            name='OAuthClient',
            fields=[
                ('id', models.BigAutoField(primary_key=True, serialize=False)),
                ('client_id', models.CharField(db_index=True, default=oauth2_provider.generators.generate_client_id, max_length=255, unique=True, verbose_name='client ID')),
                ('redirect_uris', models.TextField(blank=True, help_text='Allowed URIs list, space separated', verbose_name='redirect URIs')),
                ('post_logout_redirect_uris', models.TextField(blank=True, default='', help_text='Allowed Post Logout URIs list, space separated', verbose_name='post logout redirect URIs')),
                ('client_type', models.CharField(choices=[('confidential', 'Confidential'), ('public', 'Public')], max_length=32, verbose_name='client type')),
                ('authorization_grant_type', models.CharField(choices=[('authorization-code', 'Authorization code'), ('urn:ietf:params:oauth:grant-type:device_code', 'Device Code'), ('implicit', 'Implicit'), ('password', 'Resource owner password-based'), ('client-credentials', 'Client credentials'), ('openid-hybrid', 'OpenID connect hybrid')], max_length=44, verbose_name='authorization grant type')),
                ('client_secret', oauth2_provider.models.ClientSecretField(blank=True, db_index=True, default=oauth2_provider.generators.generate_client_secret, help_text='Client secret for authentication', max_length=255, verbose_name='client secret')),
                ('hash_client_secret', models.BooleanField(default=True, verbose_name='hash client secret')),
                ('name', models.CharField(blank=True, max_length=255, verbose_name='name')),
                ('skip_authorization', models.BooleanField(default=False, verbose_name='skip authorization')),
                ('created', models.DateTimeField(auto_now_add=True, verbose_name='created')),
                ('updated', models.DateTimeField(auto_now=True, verbose_name='updated')),
                ('algorithm', models.CharField(blank=True, choices=[('', 'No OIDC support'), ('RS256', 'RSA with SHA-2 256'), ('HS256', 'HMAC with SHA-2 256')], default='', max_length=5, verbose_name='algorithm')),
                ('allowed_origins', models.TextField(blank=True, default='', help_text='Allowed origins list to enable CORS, space separated', verbose_name='allowed origins')),
                ('registration_source', models.CharField(choices=[('manual', 'Manual'), ('dcr', 'Dynamic Client Registration'), ('cimd', 'Client ID Metadata Document')], default='manual', help_text='How this application was registered (manual, DCR per RFC 7591, or CIMD)', max_length=32, verbose_name='registration source')),
                ('cimd_expires_at', models.DateTimeField(blank=True, default=None, help_text='When the cached Client ID Metadata Document should be re-fetched', null=True, verbose_name='CIMD expires at')),
            ],
            options={
                'verbose_name': 'AI client',
                'indexes': [models.Index(fields=['created'], name='oauth_client_oldest')],
            },
        ),
        migrations.CreateModel(
            name='OAuthConnection',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('role', models.CharField(max_length=20)),
                ('scopes', models.JSONField(default=list)),
                ('connected_at', models.DateTimeField()),
                ('last_used_at', models.DateTimeField(null=True)),
                ('ended_at', models.DateTimeField(null=True)),
                ('expires_at', models.DateTimeField(null=True)),
                ('content_scope', models.JSONField(blank=True, default=dict)),
                ('propose_starts_agents', models.BooleanField(db_default=False, default=False)),
                ('client', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='connections', to=settings.OAUTH2_PROVIDER_APPLICATION_MODEL)),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='oauth_connections', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'verbose_name': 'connected AI client',
                'ordering': ['-connected_at', '-id'],
                'constraints': [models.UniqueConstraint(fields=('user', 'client'), name='oauth_one_connection')],
            },
        ),
    ]
