// The rules of playing alone, by kind: pick(steps, spot, held) -> {steps} to go on, {held} to remember a spot, {} where neither;
// awaits(steps): whether another player is to answer.
//
// A spot is a number: a cell of the board, or a rope from 1. steps are those of the board's module. Nothing here touches the page.
import * as comesolo from "../boards/comesolo.js";
import * as netgame from "../boards/netgame.js";
import * as optimiza from "../boards/optimiza.js";

const place = (size, cell, first) => ({ row: Math.floor(cell / size) + first, column: (cell % size) + first });

const walk = {
  module: optimiza,
  pick({ start }, steps, spot) {
    if (!steps.length || optimiza.ahead(start, steps).includes(spot)) return { steps: [...steps, spot] };
    const at = steps.indexOf(spot);
    return at >= 0 ? { steps: steps.slice(0, at + 1) } : {};
  },
  score: ({ start }, steps) => steps.reduce((sum, cell) => sum + start.values[cell], 0),
  spot: ({ start }, cell) =>
    _("%(value)s at row %(row)s, column %(column)s", { value: start.values[cell], ...place(start.size, cell, 1) }),
  say({ start }, steps) {
    if (!steps.length) return _("Choose a cell to start on.");
    const on = optimiza.ahead(start, steps).length;
    const sum = this.score({ start }, steps);
    return ngettext("%(sum)s collected; %(num)s reachable cell.", "%(sum)s collected; %(num)s reachable cells.", on, {
      sum,
    });
  },
};

const jumps = {
  module: comesolo,
  pick({ start }, steps, spot, held) {
    const legal = comesolo.jumps(start, steps);
    const jump = legal.find(({ from, to }) => from === held && to === spot);
    if (jump) return { steps: [...steps, jump] };
    return legal.some(({ from }) => from === spot) && spot !== held ? { held: spot } : {};
  },
  goals: ({ start }, steps, held) =>
    comesolo
      .jumps(start, steps)
      .filter(({ from }) => from === held)
      .map(({ to }) => to),
  score: (_game, steps) => steps.length,
  spot({ start }, cell, steps) {
    const isPiece = comesolo.frames({ start, steps }).seek(steps.length).cells[cell];
    const at = place(start.size, cell, 0);
    return isPiece
      ? _("A piece at row %(row)s, column %(column)s", at)
      : _("An empty cell at row %(row)s, column %(column)s", at);
  },
  say({ start }, steps) {
    const on = new Set(comesolo.jumps(start, steps).map(({ from }) => from)).size;
    return ngettext(
      "%(eaten)s eaten, %(left)s left; %(num)s can jump.",
      "%(eaten)s eaten, %(left)s left; %(num)s can jump.",
      on,
      { eaten: steps.length, left: start.pieces - steps.length },
    );
  },
};

const cuts = {
  module: netgame,
  pick(game, steps, spot) {
    return cuts.awaits(game, steps) || !legalCuts(game.start, steps).includes(spot) ? {} : { steps: [...steps, spot] };
  },
  awaits: ({ start }, steps) => steps.length % 2 === 1 && legalCuts(start, steps).length > 0,
  over: ({ start }, steps) => steps.length > 0 && legalCuts(start, steps).length === 0,
  score: ({ start }, steps) => (cuts.over({ start }, steps) && steps.length % 2 === 1 ? 1 : 0),
  spot: (_game, rope) => _("Rope %(rope)s", { rope }),
  say({ start }, steps) {
    if (!steps.length) return _("Cut a rope. One cut wins.");
    if (cuts.over({ start }, steps))
      return steps.length % 2
        ? _("You win: there is nothing left to cut.")
        : _("You lose: there is nothing left to cut. Start again or undo.");
    if (steps.length % 2) return _("The other player's turn.");
    return ngettext(
      "The other player cut rope %(rope)s. %(num)s rope may be cut.",
      "The other player cut rope %(rope)s. %(num)s ropes may be cut.",
      legalCuts(start, steps).length,
      { rope: steps.at(-1) },
    );
  },
};

function legalCuts(net, steps) {
  const whole = netgame.wholeOf(net, steps);
  return net.ropes.map((_, index) => index + 1).filter((rope) => net.cellsOf[rope - 1] & whole);
}

export const KINDS = { optimiza: walk, comesolo: jumps, netgame: cuts };
