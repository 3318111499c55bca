import { tool } from "@langchain/core/tools";
import { z } from "zod";

export interface Note {
  readonly id: string;
  readonly title: string;
  readonly text: string;
}

/** All that `search_notes` knows. Small on purpose: the researcher must be able to report that it found nothing. */
const NOTES: readonly Note[] = [
  {
    id: "n1",
    title: "Append first, deliver after",
    text: "A log that is written before anyone is told lets every watcher read the same events in the same order. Delivery can fail and be repeated; the log cannot be contradicted.",
  },
  {
    id: "n2",
    title: "Cursors",
    text: "A cursor names a place in a log. A client that reconnects sends its cursor and gets what follows. A cursor that cannot be served must be refused aloud, or events are lost without a trace.",
  },
  {
    id: "n3",
    title: "Leases and fencing",
    text: "A lease says who may write, and for how long. A paused writer may wake up after its lease ended, so each write carries a fencing token and the store refuses an old one.",
  },
  {
    id: "n4",
    title: "Server-sent events",
    text: "Server-sent events are one HTTP response that never ends. The browser reconnects by itself and sends the last event id. Proxies may buffer, so heartbeats and the right headers matter.",
  },
  {
    id: "n5",
    title: "Backpressure",
    text: "A slow reader must not slow the others. Keep a bound per reader, drop the reader that passes it, and give it a cursor to come back with.",
  },
  {
    id: "n6",
    title: "Checkpoints of an agent",
    text: "A checkpoint holds the state of an agent after a step. After a crash the agent goes on from the last checkpoint; what was streamed since then has to be withdrawn, because the step runs again.",
  },
  {
    id: "n7",
    title: "Idempotency",
    text: "Anything that may be retried needs a key that names the intent. The second request with the same key gets the first one's result. Tool calls of an agent run at least once, so their call id is the key.",
  },
  {
    id: "n8",
    title: "Human in the loop",
    text: "An agent that waits for a person stores its question and ends its run. The answer starts a new run from the same checkpoint. Two answers to one question are a conflict, not a race.",
  },
];

const MOST_RESULTS = 3;
const TITLE_WEIGHT = 3;
/** Words that are in every question, and so don't distinguish notes. */
const COMMON_WORDS = new Set(
  "about after also does from have how into that the their them then there this what when where which who why will with and are can for not one you your should would could tell more".split(
    " ",
  ),
);

export const searchResultSchema = z.object({
  notes: z.array(z.object({ id: z.string(), title: z.string(), text: z.string() })),
});

export const searchNotes = tool(({ query }) => JSON.stringify({ notes: findNotes(query) }), {
  name: "search_notes",
  description: "Search the built-in notes. Gives the best matches, or none when no note fits.",
  schema: z.object({ query: z.string().describe("Words to look for.") }),
});

/** Ranks by the query's words that a note holds, its title above its text; equal ranks keep the notes' own order. */
export function findNotes(query: string): readonly Note[] {
  const words = wordsOf(query);
  return NOTES.map((note) => ({ note, rank: rankOf(note, words) }))
    .filter(({ rank }) => rank > 0)
    .sort((left, right) => right.rank - left.rank)
    .slice(0, MOST_RESULTS)
    .map(({ note }) => note);
}

/** The words of a question that none of these notes hold. */
export function uncoveredWords(question: string, notes: readonly Note[]): readonly string[] {
  return wordsOf(question).filter((word) => !notes.some((note) => holds(note, word)));
}

function rankOf({ title, text }: Note, words: readonly string[]): number {
  const inTitle = words.filter((word) => contains(title, word)).length;
  const inText = words.filter((word) => contains(text, word)).length;
  return TITLE_WEIGHT * inTitle + inText;
}

function wordsOf(text: string): readonly string[] {
  const words = text.toLowerCase().match(/[\p{L}\p{N}]{3,}/gu) ?? [];
  return [...new Set(words)].filter((word) => !COMMON_WORDS.has(word));
}

function holds({ title, text }: Note, word: string): boolean {
  return contains(title, word) || contains(text, word);
}

/** Compares stems of a simple kind, so that "cursors" finds "cursor" and "leases" finds "lease". */
function contains(text: string, word: string): boolean {
  return text.toLowerCase().includes(word.replace(/(es|s)$/, ""));
}
