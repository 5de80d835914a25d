"""What stands between sessions and those around them: the queue that batches come by, and the subscribers that matches go to."""
