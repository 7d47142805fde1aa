"""The parts of Proofroom beside the apps at the top."""
