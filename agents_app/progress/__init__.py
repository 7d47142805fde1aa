"""Progress of runs and batches, sent to the pages that show them while they go on."""
