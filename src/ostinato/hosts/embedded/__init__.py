"""The host that runs queries inside this Python process."""

from ostinato.hosts.embedded.compile import compile
from ostinato.hosts.embedded.match import match
from ostinato.hosts.embedded.result import Result
from ostinato.hosts.embedded.sql import sql

__all__ = ["Result", "compile", "match", "sql"]
