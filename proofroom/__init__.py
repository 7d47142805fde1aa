"""What Proofroom is made of beside the apps at the top."""
