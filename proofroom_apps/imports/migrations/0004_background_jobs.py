from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('proofroom_imports', '0003_run_attempts'),
    ]

    operations = [
        # The column keeps its name: old processes read it while this runs.
        migrations.AlterField(
            model_name='importrun',
            name='finished_at',
            field=models.DateTimeField(blank=True, db_column='finished_at', null=True),
        ),
        migrations.RenameField(
            model_name='importrun',
            old_name='finished_at',
            new_name='ended_at',
        ),
        migrations.AddField(
            model_name='importrun',
            name='language',
            field=models.CharField(blank=True, db_default='', default='', max_length=20),
        ),
        migrations.AlterField(
            model_name='importrun',
            name='attempts',
            field=models.PositiveSmallIntegerField(db_default=0, default=0),
        ),
    ]
