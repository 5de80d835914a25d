"""The public test kit. Hypothesis strategies are in `ostinato.testing.strategies`; they need hypothesis to be installed."""

from ostinato.testing.scenario import Given, Scenario, given

__all__ = ["Given", "Scenario", "given"]
