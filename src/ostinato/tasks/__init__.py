"""What one task of a divided query does, wherever it runs: no Spark here."""
