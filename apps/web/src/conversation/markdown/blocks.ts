import { lexer, type Token } from "marked";
import { closeOpenMarks } from "./close-open-marks";

/** A paragraph, a list, a table, a fence: what is drawn, and kept, as one. */
export interface Block {
  /** Where it begins, which is also its name: text only ever grows. */
  readonly at: number;
  readonly raw: string;
  readonly tokens: readonly Token[];
}

export interface Blocks {
  readonly text: string;
  readonly isGrowing: boolean;
  readonly list: readonly Block[];
}

/**
 * The blocks of a text. Of a text that grew, only the last block of the reading `before` is read again, so a token costs the
 * length of a paragraph and not of the message; blocks that did not change keep their identity.
 */
export function readBlocks(source: string, isGrowing: boolean, before?: Blocks): Blocks {
  const text = source.includes("\r") ? source.replace(/\r\n?/g, "\n") : source;
  if (before?.text === text && before.isGrowing === isGrowing) return before;
  const kept = before && text.startsWith(before.text) ? settledOf(before.list) : [];
  const last = kept.at(-1);
  const from = last ? last.at + last.raw.length : 0;
  const grown = blocksOf(text.slice(from), from);
  const open = grown.at(-1);
  if (isGrowing && open) grown[grown.length - 1] = { ...open, tokens: readOpen(open.raw) };
  return { text, isGrowing, list: [...kept, ...grown] };
}

/** All that no further text can change. What follows a list may turn out to be its next item. */
function settledOf(list: readonly Block[]): readonly Block[] {
  const settled = list.slice(0, -1);
  return settled.at(-1)?.tokens[0]?.type === "list" ? settled.slice(0, -1) : settled;
}

/** Blank lines go with the block before them: a block that follows may still turn out to be its continuation. */
function blocksOf(text: string, from: number): Block[] {
  const blocks: Block[] = [];
  let at = from;
  for (const token of lexer(text)) {
    const before = blocks.at(-1);
    if (token.type === "space" && before) {
      blocks[blocks.length - 1] = { ...before, raw: before.raw + token.raw };
    } else {
      blocks.push({ at, raw: token.raw, tokens: [token] });
    }
    at += token.raw.length;
  }
  return blocks;
}

function readOpen(raw: string): readonly Token[] {
  const tokens = lexer(closeOpenMarks(raw));
  // The first row of a table looks like a sentence until the row of dashes is whole.
  const [first] = tokens;
  return first?.type === "paragraph" && raw.trimStart().startsWith("|") ? [] : tokens;
}
