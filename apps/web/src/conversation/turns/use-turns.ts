"use client";

import type { SettledThread } from "../settled/settled-thread";
import { useSettledThread } from "../settled/use-settled-thread";
import { isSameTurn, type Turn, turnsOf } from "./turns";

/** What was said, run by run. Renders when a message or a run comes or goes, never with a token. */
export function useTurns(): readonly Turn[] {
  return useSettledThread(select, isSame);
}

let last: { messages: unknown; byRun: unknown; turns: readonly Turn[] } | undefined;

/** The same lists give the same turns without another pass. */
function select({ messages, byRun }: SettledThread): readonly Turn[] {
  if (last?.messages === messages && last.byRun === byRun) return last.turns;
  const known = new Map(last?.turns.map((turn) => [turn.key, turn]));
  const turns = turnsOf(messages, byRun).map((turn) => {
    const before = known.get(turn.key);
    return before && isSameTurn(before, turn) ? before : turn;
  });
  last = { messages, byRun, turns };
  return turns;
}

function isSame(a: readonly Turn[], b: readonly Turn[]): boolean {
  return a.length === b.length && a.every((turn, at) => turn === b[at]);
}
