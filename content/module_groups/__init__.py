"""One definition per file. `content.definitions` finds them here and in any installed app."""
