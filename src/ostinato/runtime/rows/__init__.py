"""From pushed batches to rows by key: reading, reordering, key numbers, stored columns, strings."""
