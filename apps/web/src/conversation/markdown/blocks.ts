import { Lexer, type Links, type Token } from "marked";
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
  /** Where `[words][name]` leads, as far as the text has said. */
  readonly links: Links;
}

/**
 * The blocks of a text. Of a text that grew, only the last block of the reading `before` is read again, so a token costs the
 * length of a paragraph and not of the message; blocks that did not change keep their identity. Only a definition of a link
 * reaches back: blocks with a bracket are then read once more.
 */
export function readBlocks(source: string, isGrowing: boolean, before?: Blocks): Blocks {
  const text = source.includes("\r") ? source.replace(/\r\n?/g, "\n") : source;
  if (before?.text === text && before.isGrowing === isGrowing) return before;
  const isGrown = before !== undefined && text.startsWith(before.text);
  const kept = isGrown ? settledOf(before.list) : [];
  const known: Links = isGrown ? before.links : {};
  const last = kept.at(-1);
  const from = last ? last.at + last.raw.length : 0;
  const grown = blocksOf(text.slice(from), from, known);
  const open = grown.at(-1);
  if (isGrowing && open) grown[grown.length - 1] = { ...open, tokens: readOpen(open.raw, known) };
  const links = { ...definedIn(isGrowing ? grown.slice(0, -1) : grown), ...known };
  const hasNewLinks = Object.keys(links).length > Object.keys(known).length;
  const list = [...kept, ...grown];
  return { text, isGrowing, links, list: hasNewLinks ? list.map((block) => withLinks(block, links)) : list };
}

/** As marked reads it, with definitions that stand elsewhere in the text. The first definition of a name counts. */
function lex(text: string, links: Links): Token[] {
  const lexer = new Lexer();
  Object.assign(lexer.tokens.links, links);
  return lexer.lex(text);
}

function definedIn(blocks: readonly Block[]): Links {
  const links: Links = {};
  for (const { tokens } of blocks) {
    for (const token of tokens) {
      if (token.type === "def") links[token.tag] ??= { href: token.href, title: token.title };
    }
  }
  return links;
}

function withLinks(block: Block, links: Links): Block {
  const [first] = block.tokens;
  if (first === undefined || first.type === "def" || first.type === "code" || !block.raw.includes("["))
    return block;
  return { ...block, tokens: lex(block.raw, links).filter(({ type }) => type !== "space") };
}

/** All that no further text can change. What follows a list may turn out to be its next item. */
function settledOf(list: readonly Block[]): readonly Block[] {
  const settled = list.slice(0, -1);
  return settled.at(-1)?.tokens[0]?.type === "list" ? settled.slice(0, -1) : settled;
}

/** Blank lines go with the block before them: a block that follows may still turn out to be its continuation. */
function blocksOf(text: string, from: number, links: Links): Block[] {
  const blocks: Block[] = [];
  let at = from;
  for (const token of lex(text, links)) {
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

function readOpen(raw: string, links: Links): readonly Token[] {
  const tokens = lex(closeOpenMarks(raw), links);
  // The first row of a table looks like a sentence until the row of dashes is whole.
  const [first] = tokens;
  return first?.type === "paragraph" && raw.trimStart().startsWith("|") ? [] : tokens;
}
