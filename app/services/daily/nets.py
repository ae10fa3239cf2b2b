"""Who wins a net of the day, for the browser that plays the other side: as data of this one net, without a solver."""

from __future__ import annotations

from base64 import b64encode
from functools import lru_cache

import numpy as np

from checkers.rules.netgame import read_net, sides_of, whole_cells

NETS_REMEMBERED = 64
"""Tables of at most 2^14 bits each."""


@lru_cache(NETS_REMEMBERED)
def won_sets(instance: str) -> str:
    """Tell for each set of whole cells of a net whether whoever cuts then wins, in base64.

    Bit S, counted from the lowest bit of the first byte, stands for the set S, whose bit C is the cell C: cells are
    numbered row by row from below.
    """
    net = read_net(instance.encode())
    cells = whole_cells(net)
    cuts = sorted({*sides_of(cells, len(net.ropes))} - {0})
    won = np.zeros(1 << len(cells), np.bool_)
    for whole in range(1, len(won)):
        won[whole] = any(whole & cut and not won[whole & ~cut] for cut in cuts)
    return b64encode(np.packbits(won, bitorder="little").tobytes()).decode()
