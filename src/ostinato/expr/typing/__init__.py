"""Types of expressions: the types, the table of functions, inference, coercion."""
