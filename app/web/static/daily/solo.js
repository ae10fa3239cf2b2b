// The rules of playing alone, by kind: pick(steps, spot, held) -> {steps} to go on, {held} to remember a spot, {} where neither.
//
// A spot is a number: a cell of the board, or a rope from 1. steps are those of the board's module. Nothing here touches the page.
import * as comesolo from "../boards/comesolo.js";
import * as netgame from "../boards/netgame.js";
import * as optimiza from "../boards/optimiza.js";

const name = (size, cell, first) => `row ${Math.floor(cell / size) + first}, column ${(cell % size) + first}`;

const walk = {
  module: optimiza,
  pick({ start }, steps, spot) {
    if (!steps.length || optimiza.ahead(start, steps).includes(spot)) return { steps: [...steps, spot] };
    const at = steps.indexOf(spot);
    return at >= 0 ? { steps: steps.slice(0, at + 1) } : {};
  },
  score: ({ start }, steps) => steps.reduce((sum, cell) => sum + start.values[cell], 0),
  spot: ({ start }, cell) => `${start.values[cell]} at ${name(start.size, cell, 1)}`,
  say({ start }, steps) {
    if (!steps.length) return "Choose a cell to start on.";
    const on = optimiza.ahead(start, steps).length;
    return `${this.score({ start }, steps)} collected on ${steps.length} ${steps.length === 1 ? "cell" : "cells"}; ${on || "no"} ${on === 1 ? "cell" : "cells"} to go on to.`;
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
  goals: ({ start }, steps, held) => comesolo.jumps(start, steps).filter(({ from }) => from === held).map(({ to }) => to),
  score: (_, steps) => steps.length,
  spot: ({ start }, cell, steps) => `${comesolo.frames({ start, steps }).seek(steps.length).cells[cell] ? "a piece" : "an empty cell"} at ${name(start.size, cell, 0)}`,
  say({ start }, steps) {
    const on = new Set(comesolo.jumps(start, steps).map(({ from }) => from)).size;
    return `${steps.length} eaten, ${start.pieces - steps.length} left; ${on ? `${on} can jump` : "none can jump"}.`;
  },
};

const cuts = {
  module: netgame,
  pick({ start }, steps, spot) {
    if (!legalCuts(start, steps).includes(spot)) return {};
    const mine = [...steps, spot];
    const reply = answered(start, mine);
    return { steps: reply ? [...mine, reply] : mine };
  },
  over: ({ start }, steps) => steps.length > 0 && legalCuts(start, steps).length === 0,
  score: ({ start }, steps) => (cuts.over({ start }, steps) && steps.length % 2 === 1 ? 1 : 0),
  spot: (_, rope) => `rope ${rope}`,
  say({ start }, steps) {
    if (!steps.length) return "Cut a rope. One cut wins.";
    if (cuts.over({ start }, steps)) return steps.length % 2 ? "You win: there is nothing left to cut." : "You lose: there is nothing left to cut. Start again, or take back.";
    return `The other player cut rope ${steps.at(-1)}. ${legalCuts(start, steps).length} ropes may be cut.`;
  },
};

function legalCuts(net, steps) {
  const whole = netgame.wholeOf(net, steps);
  return net.ropes.map((_, index) => index + 1).filter((rope) => net.cellsOf[rope - 1] & whole);
}

/** The other player's cut: one that wins, else the one that leaves the most to cut. */
function answered(net, steps) {
  const legal = legalCuts(net, steps);
  const after = (rope) => netgame.wholeOf(net, [...steps, rope]);
  const left = (rope) => legalCuts(net, [...steps, rope]).length;
  return legal.find((rope) => !netgame.wins(net, after(rope))) ?? legal.toSorted((one, two) => left(two) - left(one) || one - two)[0];
}

export const KINDS = { optimiza: walk, comesolo: jumps, netgame: cuts };
