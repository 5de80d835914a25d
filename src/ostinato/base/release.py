"""The release of this package: one place, which both sides of a Spark job can ask."""

RELEASE = "0.1.0"
