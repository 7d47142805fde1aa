import analytics.models
import datetime
import django.db.models.deletion
import django.utils.timezone
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
    ]

    operations = [
        migrations.CreateModel(
            name='RollUp',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('counted_to', models.BigIntegerField(default=0)),
                ('counted_at', models.DateTimeField(null=True)),
                ('months_to', models.DateField(default=datetime.date(1, 1, 1))),
            ],
        ),
        migrations.CreateModel(
            name='AnalyticsEvent',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('event_type', models.CharField(choices=[('view', 'View'), ('click', 'Click')], max_length=5)),
                ('post_id', models.UUIDField(null=True)),
                ('x', models.FloatField(null=True)),
                ('y', models.FloatField(null=True)),
                ('viewport_width', models.PositiveIntegerField(null=True)),
                ('metadata', models.JSONField(default=dict)),
                ('locale', models.CharField(default='', max_length=12)),
                ('version', models.PositiveIntegerField(null=True)),
                ('variation_of', models.UUIDField(null=True)),
                ('goal', models.CharField(default='', max_length=105)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
            ],
            options={
                'indexes': [analytics.models.TimeIndex(fields=['created_at'], name='analytics_when')],
                'constraints': [models.CheckConstraint(condition=models.Q(('event_type__in', ['view', 'click'])), name='analytics_type_known')],
            },
        ),
        migrations.CreateModel(
            name='HeatSheet',
            fields=[
                ('id', models.AutoField(primary_key=True, serialize=False)),
                ('post_id', models.UUIDField()),
                ('event_type', models.CharField(choices=[('view', 'View'), ('click', 'Click')], max_length=5)),
                ('module_id', models.CharField(default='', max_length=36)),
                ('device', models.CharField(choices=[('mobile', 'Mobile'), ('tablet', 'Tablet'), ('desktop', 'Desktop'), ('unknown', 'Unknown')], max_length=7)),
                ('version', models.PositiveIntegerField(default=0)),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('post_id', 'event_type', 'module_id', 'device', 'version'), name='analytics_heat_sheet_once')],
            },
        ),
        migrations.CreateModel(
            name='HeatBatch',
            fields=[
                ('pk', models.CompositePrimaryKey('sheet_id', 'day', 'last_event', blank=True, editable=False, primary_key=True, serialize=False)),
                ('day', models.DateField()),
                ('last_event', models.BigIntegerField()),
                ('cells', analytics.models.NumberList()),
                ('sheet', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='batches', to='analytics.heatsheet')),
            ],
        ),
        migrations.CreateModel(
            name='PostCount',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('dimension', models.CharField(choices=[('total', 'Total'), ('locale', 'Language'), ('device', 'Device'), ('referrer', 'Referrer'), ('module', 'Module'), ('goal', 'Goal'), ('arm', 'Arm')], max_length=8)),
                ('grain', models.CharField(choices=[('day', 'Day'), ('month', 'Month')], max_length=5)),
                ('day', models.DateField()),
                ('value', models.CharField(default='', max_length=253)),
                ('views', models.BigIntegerField(default=0)),
                ('clicks', models.BigIntegerField(default=0)),
                ('conversions', models.BigIntegerField(default=0)),
                ('post_id', models.UUIDField()),
            ],
            options={
                'indexes': [models.Index(condition=models.Q(('dimension', 'total')), fields=['grain', 'day'], include=('post_id', 'views', 'clicks', 'conversions'), name='analytics_top_posts')],
                'constraints': [models.UniqueConstraint(fields=('post_id', 'dimension', 'grain', 'day', 'value'), name='analytics_post_count_once')],
            },
        ),
        migrations.CreateModel(
            name='SiteCount',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('dimension', models.CharField(choices=[('total', 'Total'), ('locale', 'Language'), ('device', 'Device'), ('referrer', 'Referrer'), ('module', 'Module'), ('goal', 'Goal'), ('arm', 'Arm')], max_length=8)),
                ('grain', models.CharField(choices=[('day', 'Day'), ('month', 'Month')], max_length=5)),
                ('day', models.DateField()),
                ('value', models.CharField(default='', max_length=253)),
                ('views', models.BigIntegerField(default=0)),
                ('clicks', models.BigIntegerField(default=0)),
                ('conversions', models.BigIntegerField(default=0)),
            ],
            options={
                'verbose_name': 'analytics',
                'verbose_name_plural': 'analytics',
                'constraints': [models.UniqueConstraint(fields=('dimension', 'grain', 'day', 'value'), name='analytics_site_count_once')],
            },
        ),
    ]
