import { tool } from "@langchain/core/tools";
import { z } from "zod";
import { NOTES, type Note } from "./notes.js";

const MOST_RESULTS = 3;
const TITLE_WEIGHT = 3;
/** Words that are in every question say nothing about a note. */
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
