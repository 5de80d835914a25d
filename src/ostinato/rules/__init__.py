"""Sets of queries as data: tables of rules, templates, what has changed, and the file of a set."""
