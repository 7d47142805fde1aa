from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("proofroom_comments", "0001_initial")]

    operations = [
        migrations.AddField(
            model_name="comment",
            name="overdue_due_at",
            field=models.DateTimeField(null=True),
        ),
    ]
