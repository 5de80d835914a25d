"""Strategy "backtrack": one partial match at a time, for comparison."""
