"""What the languages of event patterns share: events of a type under a name, references to them, and the clauses about them."""
