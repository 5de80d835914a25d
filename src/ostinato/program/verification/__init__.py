"""What a program has to be before it runs: one check per kind of body."""
