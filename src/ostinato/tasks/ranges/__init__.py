"""A query cut into time ranges: what crosses a border comes out as if there were none."""
