/** Scripts that put no space between words: each character counts as a word. */
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u;
const MAX_WORD = 40;

/**
 * The words of a text, each once, in lower case. Made here and not by the database, whose idea of a word depends on its
 * configuration.
 */
export function searchWords(text: string): readonly string[] {
  const found =
    text
      .normalize("NFKC")
      .toLowerCase()
      .match(/[\p{L}\p{N}]+/gu) ?? [];
  const words = found.flatMap((word) => (UNSPACED.test(word) ? Array.from(word) : [word.slice(0, MAX_WORD)]));
  return [...new Set(words)];
}

const AROUND = 60;

/** The part of a text in which the first of these words stands, on one line. */
export function snippetOf(text: string, words: readonly string[]): string {
  const line = text.replace(/\s+/gu, " ").trim();
  const lower = line.toLowerCase();
  const places = words.map((word) => lower.indexOf(word)).filter((at) => at >= 0);
  const at = places.length > 0 ? Math.min(...places) : 0;
  const from = Math.max(0, at - AROUND);
  const cut = Array.from(line.slice(from, at + 2 * AROUND)).join("");
  return `${from > 0 ? "…" : ""}${cut.trim()}${at + 2 * AROUND < line.length ? "…" : ""}`;
}
