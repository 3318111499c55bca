import type { Block } from "./block";

const STARTS_WITH_BRACKET = /^ {0,3}\[/;
/** A link's definition with an open title, which may go on over blank lines. */
const OPEN_TITLE = /^ {0,3}\[[^\]]*\]:\s*\S+\s+["'(]/;
const ENDS_WITH_BLANK_LINE = /\n[ \t]*\n[ \t]*$/;
/** A bullet, or what may yet become one. */
const MAYBE_BULLET = /^\s*[-+*\d]/;
/** Lists with an empty first item, or that begin with another number, interrupt no text. */
const INTERRUPTING_ITEM = /^ {0,3}(?:[*+-]|1[.)])[ \t]+[^ \t\n]/;
const INTERRUPTS_TEXT = new Set(["code", "hr", "blockquote"]);

/**
 * Whether no further text can change that `block` ends where `next` begins. It asks less than the grammar allows: a boundary
 * that is not firm is only read once more.
 */
export function isFirmBoundary(block: Block, next: Block): boolean {
  const [token] = block.tokens;
  const hasBlankLine = ENDS_WITH_BLANK_LINE.test(block.raw);
  if (OPEN_TITLE.test(block.raw)) return false;
  if (!hasBlankLine && STARTS_WITH_BRACKET.test(block.raw)) return false;
  const isNextLineWhole = next.raw.includes("\n");
  switch (token?.type) {
    case "space":
    case "heading":
    case "hr":
    case "code":
    case "html":
      return true;
    case "list":
      return isNextLineWhole || (hasBlankLine && !MAYBE_BULLET.test(next.raw));
    case "paragraph":
    case "table":
      return hasBlankLine || (isNextLineWhole && interruptsText(next));
    default:
      return hasBlankLine;
  }
}

/** A table counts once its row of dashes is whole; one without a pipe could still become a heading's underline. */
function interruptsText({ raw, tokens }: Block): boolean {
  const type = tokens[0]?.type ?? "";
  if (type === "list") return INTERRUPTING_ITEM.test(raw);
  if (type === "heading") return /^ {0,3}#{1,6}\s/.test(raw);
  if (type === "table") return /^[^\n]*\n[^\n|]*\|[^\n]*\n/.test(raw);
  return INTERRUPTS_TEXT.has(type);
}
