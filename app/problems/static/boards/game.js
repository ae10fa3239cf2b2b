// Transcripts of games on the boards of their games, one frame a move; ../board/play.js shows games in play by it, too.
import { quote, rejection } from "../board/numbers.js";
import * as lasttreat from "./lasttreat.js";
import * as netgame from "./netgame.js";
import * as optimiza from "./optimiza.js";

const GAMES = { lasttreat: lasttreat.game, netgame: netgame.game, optimiza: optimiza.game };
const MAGIC = "transcript of a game, version 1";
const MOVE = /^ {4}[1-9][0-9]* (\S+) [0-9.]+ s: (.*)$/;

/** The game of a transcript up to its first illegal move. */
export function parse(_input, answer) {
  const lines = answer.split("\n");
  const field = (name) => lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2) ?? "";
  const rules = GAMES[field("game")];
  if (lines[0] !== MAGIC || !rules) {
    const [expected, line] =
      lines[0] === MAGIC ? [`"game: " and one of ${Object.keys(GAMES).join(", ")}`, 1] : [`"${MAGIC}"`, 0];
    return {
      start: undefined,
      steps: [],
      raw: null,
      stop: { text: rejection(`line ${line + 1}`, expected, quote(lines[line] ?? "")) },
    };
  }
  const below = (name) => {
    const rest = lines.slice(lines.indexOf(name) + 1);
    const end = rest.findIndex((line) => !line.startsWith("    "));
    return rest.slice(0, end < 0 ? rest.length : end);
  };
  const instance = below("position:")
    .map((line) => `${line.slice(4)}\n`)
    .join("");
  const steps = below("moves:")
    .map((line) => MOVE.exec(line))
    .filter(Boolean)
    .map(([, by, move]) => ({ by, move }));
  const ended = field("end").replace(/:.*$/, "");
  const parsed = played(field("game"), instance, steps);
  return { ...parsed, ended, raw: ended.endsWith(`, ${field("contestant")} won`) && !parsed.stop ? 1 : null };
}

/** A game as parse gives it: its name, the position at the start as text, and its moves, {by, move} each. */
export function played(name, instance, steps) {
  const rules = GAMES[name];
  let position = rules.start(instance);
  for (const [at, { move }] of steps.entries()) {
    try {
      position = rules.apply(position, move);
    } catch (error) {
      const [number, words] = [`move ${at + 1}`, error.message];
      const text = words.startsWith("move: ") ? number + words.slice(4) : `${number}, ${words}`;
      return { start: { name, instance }, steps: steps.slice(0, at), raw: null, stop: { text } };
    }
  }
  return { start: { name, instance }, steps, raw: null };
}

/** The side that made each move of a game. */
export function turns(name, instance, moves) {
  const rules = GAMES[name];
  let position = rules.start(instance);
  return moves.map((move) => {
    const side = rules.turn(position);
    position = rules.apply(position, move);
    return side;
  });
}

/** The positions after each number of moves. */
export function frames({ start, steps, ended }) {
  if (!start) return { count: 0, seek: () => ({}) };
  const rules = GAMES[start.name];
  const positions = [rules.start(start.instance)];
  for (const { move } of steps) positions.push(rules.apply(positions.at(-1), move));
  return {
    count: steps.length,
    seek(step) {
      const told = step === steps.length && ended ? ` ${_("The end: %(how)s.", { how: ended })}` : "";
      return { rules, position: positions[step], made: steps[step - 1], step, count: steps.length, told };
    },
  };
}

/** The board of a frame; with `choose` its legal moves can be clicked. */
export function draw({ rules, position, made, choose }, drawn, theme) {
  return rules ? rules.draw(position, drawn, theme, made?.move, choose) : (drawn ?? document.createElement("div"));
}

/** The frame in words. */
export function say({ rules, position, made, step, count, told }) {
  if (!rules) return _("The game cannot be read.");
  const begin = made
    ? _("Move %(step)s of %(count)s, %(player)s: %(move)s.", {
        step,
        count,
        player: made.by,
        move: rules.describe(made.move),
      })
    : _("The start.");
  return `${begin} ${rules.say(position)}${told}`;
}

/** What would be refused by the beginning of a file alone; an empty text where nothing would. */
export function peek(head) {
  return head.startsWith(MAGIC) ? "" : "is no transcript of a game";
}
