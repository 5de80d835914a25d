"""The ways through the part of a match graph that ends with one event, in the order of matches, from any number on.

The graph leads from the last event back to the first, the order begins with the first. So the links are turned around, and every node
learns how many ways lead from it to the end: then the n-th match is found event by event. Several nodes may stand for the same events
under different variables; they are followed together, since places decide before variables do."""

from __future__ import annotations

from collections.abc import Iterator
from heapq import heapify, heappop, heappush
from typing import Protocol

UNION = -1
NOTHING = -1
Layer = dict[int, int]  # nodes of one event, each with the number of ways that lead to it
Path = tuple[tuple[int, ...], tuple[int, ...]]


class Graph(Protocol):
    event: list[int]
    variable: list[int]
    before: list[int]
    other: list[int]

    @property
    def newest(self) -> list[int]: ...


class OrderedPaths:
    """`first_event`: ways that start with an earlier event do not count."""

    def __init__(self, graph: Graph, roots: tuple[int, ...], first_event: int) -> None:
        self._graph = graph
        self._roots = frozenset(roots)
        self._ways: dict[int, int] = dict.fromkeys(roots, 1)  # from a node to the end
        self._above: dict[int, list[int]] = {}  # the nodes that point to a node
        self._starts: list[int] = []
        self._next: dict[int, list[int]] = {}
        self._spread(first_event)

    def _spread(self, first_event: int) -> None:
        """From the roots down: what a node points to has a smaller number, so that it is complete when its turn comes."""
        graph, ways = self._graph, self._ways
        waiting = [-root for root in self._roots]
        heapify(waiting)
        while waiting:
            node = -heappop(waiting)
            below = [graph.before[node]] if graph.event[node] != UNION else [graph.before[node], graph.other[node]]
            if below == [NOTHING]:
                self._starts.append(node)
                continue
            for child in below:
                if graph.newest[child] >= first_event:
                    if child not in ways:
                        ways[child] = 0
                        self._above[child] = []
                        heappush(waiting, -child)
                    ways[child] += ways[node]
                    self._above[child].append(node)

    @property
    def count(self) -> int:
        return sum(self._ways[start] for start in self._starts)

    def paths(self, skipped: int = 0) -> Iterator[Path]:
        """Depth first over the events, without recursion: a match may be long."""
        layers: list[Layer] = []
        stack = [(0, layer) for layer in reversed(self._layers(dict.fromkeys(self._starts, 1)))]
        while stack:
            depth, layer = stack.pop()
            total = sum(ways * self._ways[node] for node, ways in layer.items())
            if skipped >= total:
                skipped -= total
                continue
            del layers[depth:]
            layers.append(layer)
            if self._roots.issuperset(layer):
                yield from self._named(layers, skipped)
                skipped = 0
            else:
                stack += [(depth + 1, following) for following in reversed(self._layers(self._followers(layer)))]

    def _followers(self, layer: Layer) -> Layer:
        found: Layer = {}
        for node, ways in layer.items():
            for following in self._after(node):
                found[following] = found.get(following, 0) + ways
        return found

    def _after(self, node: int) -> list[int]:
        """The events that may come next: up through the unions that the node is part of."""
        if node not in self._next:
            found, waiting = [], list(self._above.get(node, ()))
            while waiting:
                above = waiting.pop()
                if self._graph.event[above] == UNION:
                    waiting += self._above.get(above, ())
                else:
                    found.append(above)
            self._next[node] = found
        return self._next[node]

    def _layers(self, nodes: Layer) -> list[Layer]:
        """The nodes of each event, earlier events first."""
        by_event: dict[int, Layer] = {}
        for node, ways in nodes.items():
            by_event.setdefault(self._graph.event[node], {})[node] = ways
        return [by_event[event] for event in sorted(by_event)]

    def _named(self, layers: list[Layer], skipped: int) -> Iterator[Path]:
        """The matches with these events: all ways to name them, earlier variables first."""
        events = tuple(self._graph.event[next(iter(layer))] for layer in layers)
        left = self._ways_within(layers)
        stack: list[tuple[int, int, Layer]] = [(0, *group) for group in self._by_variable(dict.fromkeys(layers[0], 1))]
        names: list[int] = []
        while stack:
            depth, variable, chosen = stack.pop()
            total = sum(ways * left[depth][node] for node, ways in chosen.items())
            if skipped >= total:
                skipped -= total
                continue
            del names[depth:]
            names.append(variable)
            if depth + 1 == len(layers):
                for _ in range(total - skipped):
                    yield events, tuple(names)
                skipped = 0
                continue
            following = {node: ways for node, ways in self._followers(chosen).items() if node in left[depth + 1]}
            stack += [(depth + 1, *group) for group in self._by_variable(following)]

    def _ways_within(self, layers: list[Layer]) -> list[Layer]:
        """Per layer and node, the ways to the end that have just these events."""
        left: list[Layer] = [dict.fromkeys(layers[-1], 1)]
        for layer in reversed(layers[:-1]):
            left.append({node: sum(left[-1].get(following, 0) for following in self._after(node)) for node in layer})
        return left[::-1]

    def _by_variable(self, nodes: Layer) -> list[tuple[int, Layer]]:
        groups: dict[int, Layer] = {}
        for node, ways in nodes.items():
            groups.setdefault(self._graph.variable[node], {})[node] = ways
        return sorted(groups.items(), key=lambda group: -group[0])
