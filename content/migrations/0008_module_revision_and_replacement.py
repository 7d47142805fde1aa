from django.db import migrations


class Migration(migrations.Migration):

    dependencies = [("content", "0007_feedback")]

    operations = []
