from django.db import migrations


class Migration(migrations.Migration):

    dependencies = [("content", "0002_post_newest")]

    operations = []
