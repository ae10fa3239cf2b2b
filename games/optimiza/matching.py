"""Matchings in general graphs: is a vertex in every maximum matching? Edmonds' blossoms, for graphs of some dozens.

A graph is a mapping of each vertex to its neighbours; edges go both ways.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping

Graph = Mapping[int, Iterable[int]]
Mates = dict[int, int]


def in_every_maximum_matching(graph: Graph, vertex: int) -> bool:
    """Tell whether every maximum matching of a graph covers a vertex.

    That is so where a maximum matching of the graph without it can be augmented from it.
    """
    mates: Mates = {}
    for root in graph:
        if root != vertex and root not in mates:
            augment(graph, mates, root, without=vertex)
    return augment(graph, mates, vertex)


def augment(graph: Graph, mates: Mates, root: int, without: int | None = None) -> bool:
    """Look for an augmenting path from an uncovered vertex and turn it; `without` leaves a vertex out of the graph."""
    search = _Search(graph, mates, root, without)
    end = search.run()
    if end is None:
        return False
    vertex: int | None = end
    while vertex is not None:
        before = search.parent[vertex]
        following = mates.get(before)
        mates[vertex], mates[before] = before, vertex
        vertex = following
    return True


class _Search:
    """One breadth-first search by alternating paths; odd cycles become one vertex, their base."""

    def __init__(self, graph: Graph, mates: Mates, root: int, without: int | None) -> None:
        self.graph, self.mates, self.root, self.without = graph, mates, root, without
        self.parent: dict[int, int] = {}
        self.base = {vertex: vertex for vertex in graph}
        self.outer = {root}
        self.queue = deque([root])

    def run(self) -> int | None:
        """Give the uncovered end of an augmenting path, or None."""
        while self.queue:
            vertex = self.queue.popleft()
            for near in self.graph[vertex]:
                if near == self.without or self.base[vertex] == self.base[near] or self.mates.get(vertex) == near:
                    continue
                if near == self.root or (near in self.mates and self.mates[near] in self.parent):
                    self._contract(vertex, near)
                elif near not in self.parent:
                    self.parent[near] = vertex
                    if near not in self.mates:
                        return near
                    self.outer.add(self.mates[near])
                    self.queue.append(self.mates[near])
        return None

    def _contract(self, vertex: int, near: int) -> None:
        """Make the odd cycle that an edge between two outer vertices closes one vertex."""
        base = self._common_base(vertex, near)
        blossom: set[int] = set()
        self._mark(vertex, base, near, blossom)
        self._mark(near, base, vertex, blossom)
        for each in self.graph:
            if self.base[each] in blossom:
                self.base[each] = base
                if each not in self.outer:
                    self.outer.add(each)
                    self.queue.append(each)

    def _common_base(self, one: int, other: int) -> int:
        """Find where the paths of two outer vertices to the root meet."""
        passed = set()
        vertex = one
        while True:
            vertex = self.base[vertex]
            passed.add(vertex)
            if vertex not in self.mates or vertex == self.root:
                break
            vertex = self.parent[self.mates[vertex]]
        vertex = self.base[other]
        while vertex not in passed:
            vertex = self.base[self.parent[self.mates[vertex]]]
        return vertex

    def _mark(self, vertex: int, base: int, child: int, blossom: set[int]) -> None:
        """Collect a path down to the base, and turn its parents towards the cycle's other side."""
        while self.base[vertex] != base:
            mate = self.mates[vertex]
            blossom |= {self.base[vertex], self.base[mate]}
            self.parent[vertex] = child
            child = mate
            vertex = self.parent[mate]
