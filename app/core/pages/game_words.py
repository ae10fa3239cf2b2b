"""The words of games in the reader's language: names, sides, opponents, rules and hints, which games say in English."""

from __future__ import annotations

from app.core.pages.known_sentences import KnownSentences
from app.core.pages.languages import N_

WORDS = KnownSentences(
    (
        N_("The last treat"),
        N_("The net game"),
        N_("The duel of Optimiza"),
        N_("first"),
        N_("second"),
        N_("optimal"),
        N_("adversarial"),
        N_("random"),
        N_("one"),
        N_("greedy"),
        N_("wins what can be won, by a formula; draws a move where it is lost"),
        N_("wins what can be won; where it is lost it breaks the mirror strategy or leaves the most replies that lose"),
        N_("draws a pile or both, and a number, all equally likely"),
        N_("takes a single treat from a pile that it draws"),
        N_("takes as many treats as one move can"),
        N_("wins every net that can be won, by a table of all sets of whole cells"),
        N_("wins what can be won; where all is lost it cuts so that the greatest share of replies lose"),
        N_("cuts any rope, all equally likely"),
        N_("takes one whole cell wherever it can"),
        N_("takes two whole cells wherever it can"),
        N_(
            "wins what can be won, proved by matchings; the prize is exact where at most ten cells of a value are "
            "joined, elsewhere an alpha-beta search looks three steps ahead"
        ),
        N_("plays like optimal where it wins; else it steps to where the greatest share of replies lose"),
        N_("draws the cell, the side that begins, and its steps"),
        N_("goes for the greatest value in reach, and lets itself begin where there is a step"),
        N_("proved: B lets that side begin for which the cell is lost"),
        N_("proved: matchings of the layers; the prize is exact"),
        N_("proved: matchings of the layers; the prize is looked at three steps ahead"),
        N_("proved: table of all sets of whole cells"),
        N_("proved: closed form of the lost positions"),
        N_("cut a rope that is a side of a whole cell"),
        N_("say who begins, A or B"),
        N_("place the piece on any cell of the board, as r c"),
        N_("step %(value)s cells in a straight line, to a value of at least %(same)s, not visited before"),
        N_(
            "take 1 to %(most)s from one pile, or the same number from both; there are %(cakes)s cakes and %(fruit)s "
            "pieces of fruit"
        ),
    )
)
