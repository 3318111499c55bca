import { describeValue, oneLine } from "./describe.js";
import { tellLine } from "./tell.js";
import type { Transcript } from "./transcript.js";

const MAX_SHOWN = 200;

/** Prints one line per value of the graph's state that an event changed: a list whole, of an object its changed entries. */
export function tellStateChanges(state: Transcript, before: unknown): Transcript {
  // A connection begins with the state as it is, which is no change.
  if (!state.isLive || !state.isOpen) return state;
  const [was, is] = [entriesOf(before), entriesOf(state.view.state)];
  return changesOf(was, is)
    .filter(([key, value]) => was.has(key) || !isEmpty(value))
    .flatMap(([key, value]): readonly (readonly [string, unknown])[] => {
      const [inner, outer] = [entriesOf(value), entriesOf(was.get(key))];
      return inner.size === 0
        ? [[key, value]]
        : changesOf(outer, inner).map(([name, each]) => [`${key} ${name}`, each]);
    })
    .reduce((shown, [name, value]) => tellLine(shown, [], ["dim", lineOf(name, value)]), state);
}

type Entries = ReadonlyMap<string, unknown>;

/** Of an object; a list or a scalar has none. The messages are shown by their own events. */
function entriesOf(value: unknown): Entries {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return new Map();
  return new Map(Object.entries(value).filter(([key]) => key !== "messages"));
}

function changesOf(was: Entries, is: Entries): readonly (readonly [string, unknown])[] {
  const removed = [...was.keys()].filter((key) => !is.has(key)).map((key) => [key, undefined] as const);
  const changed = [...is].filter(
    ([key, value]) => was.get(key) !== value && JSON.stringify(was.get(key)) !== JSON.stringify(value),
  );
  return [...changed, ...removed];
}

/** The value that a channel begins with. */
function isEmpty(value: unknown): boolean {
  return value === null || value === "" || (typeof value === "object" && Object.keys(value).length === 0);
}

function lineOf(name: string, value: unknown): string {
  return `∆ ${name}: ${value === undefined ? "removed" : oneLine(describeValue(value), MAX_SHOWN)}`;
}
