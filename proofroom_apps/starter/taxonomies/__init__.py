"""One definition per file. `proofroom.definitions` finds them here and in any installed app."""
