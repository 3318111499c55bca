const FENCE = /^ {0,3}(```|~~~)/;
/** A line that may become a heading's underline, a rule or a bullet. It is dropped until that is known. */
const ONLY_MARKS = /\n[ \t]*(?:-+|=+|\*+|_+|#+|>+|\+|`{1,2}|~+|\d+\.?|\|)[ \t]*$/;

/**
 * Completes a text that stops in the middle to its most likely meaning, so that streamed text does not change its appearance
 * with each token: an open `**` is bold already, half a link is its words.
 */
export function closeOpenMarks(text: string): string {
  if (FENCE.test(text)) return text;
  const start = text.lastIndexOf("\n\n") + 1;
  return text.slice(0, start) + closeParagraph(text.slice(start));
}

function closeParagraph(paragraph: string): string {
  if (paragraph.split("\n").some((line) => FENCE.test(line))) return paragraph;
  let text = paragraph.replace(ONLY_MARKS, "").replace(/!?\[([^\][]*)\]\([^()\s]*$/, "$1");
  text = text.replace(/(^|[^\]\\])!?\[([^\][\n]*)$/, "$1$2");
  if (count(text, /`/g) % 2 === 1) return text.endsWith("`") ? text.slice(0, -1) : `${text}\``;
  const prose = text.replace(/`[^`]*`/g, "");
  const ends: string[] = [];
  for (const mark of ["~~", "**", "__"]) {
    if (prose.split(mark).length % 2 === 0) ends.unshift(mark);
  }
  const single =
    prose.replaceAll("**", "").match(/(?<![\w\\*])\*(?=[^\s*])|(?<=[^\s*])\*(?!\*)/g)?.length ?? 0;
  if (single % 2 === 1) ends.unshift("*");
  for (const mark of ends) text = closeWith(text, mark);
  return text;
}

/** Removes a mark that nothing follows yet; closes any other, before trailing spaces that would prevent closing. */
function closeWith(text: string, mark: string): string {
  const words = text.trimEnd();
  if (words.endsWith(mark)) return words.slice(0, -mark.length);
  // Half of a closing mark has arrived.
  const half = mark.length === 2 && words.endsWith(mark.charAt(0)) ? words.slice(0, -1) : words;
  return half + mark;
}

function count(text: string, pattern: RegExp): number {
  return text.match(pattern)?.length ?? 0;
}
