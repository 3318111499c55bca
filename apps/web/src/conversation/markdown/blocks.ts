import { Lexer, type Links, type Token, type Tokens } from "marked";
import type { Block } from "./block";
import { closeOpenMarks } from "./close-open-marks";
import { isFirmBoundary } from "./firm-boundary";
import { type SettledParts, settledParts, withSettledParts } from "./settled-parts";

export interface Blocks {
  readonly text: string;
  readonly isGrowing: boolean;
  readonly list: readonly Block[];
  /** How many of them no further text can change. */
  readonly firm: number;
  /** Of the first block behind those, the items or rows that no further text can change. */
  readonly settled: SettledParts | undefined;
  /** Where `[words][name]` leads, as far as the firm blocks say. */
  readonly links: Links;
}

/**
 * The blocks of a text. Of a text that grew since the reading `before`, only what may have changed is read again: the last
 * block, and of a list or table only its last items or rows. So a token costs the length of a paragraph, an item or a row,
 * and not of the message. Blocks, items and rows that did not change keep their identity. Only a definition of a link reaches
 * back: blocks with a bracket are then read once more.
 */
export function readBlocks(source: string, isGrowing: boolean, before?: Blocks): Blocks {
  const text = source.includes("\r") ? source.replace(/\r\n?/g, "\n") : source;
  if (before?.text === text && before.isGrowing === isGrowing) return before;
  const start = before?.isGrowing && text.startsWith(before.text) ? before : undefined;
  const kept = start ? start.list.slice(0, start.firm) : [];
  const known = start?.links ?? {};
  const read = readRest(text, kept, known, start?.settled);
  const count = firmCount(read, kept.length);
  const links = { ...definedIn(isGrowing ? read.slice(kept.length, count) : read), ...known };
  const hasNewLinks = Object.keys(links).length > Object.keys(known).length;
  const list = hasNewLinks
    ? readRest(
        text,
        kept.map((block) => withLinks(block, links)),
        links,
      )
    : read;
  const first = list[count];
  const settled =
    first &&
    settledParts(
      first.tokens[0],
      first.raw,
      count === kept.length && !hasNewLinks ? start?.settled : undefined,
    );
  return {
    text,
    isGrowing,
    firm: count,
    settled,
    links,
    list: isGrowing ? withOpenEnd(list, links, count === list.length - 1 ? settled : undefined) : list,
  };
}

/** The kept blocks, and those of the text behind them. */
function readRest(
  text: string,
  kept: readonly Block[],
  links: Links,
  settled?: SettledParts,
): readonly Block[] {
  const last = kept.at(-1);
  const from = last ? last.at + last.raw.length : 0;
  if (settled) {
    const [first, ...others] = lex(settled.head + text.slice(from + settled.length), links);
    const whole = withSettledParts(settled, first);
    if (first && whole) {
      const length = first.raw.length - settled.head.length + settled.length;
      return blocksOf(text, [...kept], from, [{ ...whole, raw: text.slice(from, from + length) }, ...others]);
    }
  }
  return blocksOf(text, [...kept], from, lex(text.slice(from), links));
}

/** Blank lines go with the block before them: a block that follows may still turn out to be its continuation. */
function blocksOf(text: string, kept: Block[], from: number, tokens: readonly Token[]): readonly Block[] {
  const blocks = kept;
  let at = from;
  for (const token of tokens) {
    const before = blocks.at(-1);
    const end = at + token.raw.length;
    if (token.type === "space" && before && at > from) {
      blocks[blocks.length - 1] = { ...before, raw: text.slice(before.at, end) };
    } else {
      blocks.push({ at, raw: token.raw, tokens: [token] });
    }
    at = end;
  }
  return blocks;
}

function firmCount(blocks: readonly Block[], from: number): number {
  let count = from;
  for (let at = from; at + 1 < blocks.length; at += 1) {
    const [block, next] = [blocks[at], blocks[at + 1]];
    if (!block || !next || !isFirmBoundary(block, next)) break;
    count = at + 1;
  }
  return count;
}

/** The last block as it is most likely meant. */
function withOpenEnd(
  list: readonly Block[],
  links: Links,
  settled: SettledParts | undefined,
): readonly Block[] {
  const open = list.at(-1);
  if (!open) return list;
  return [...list.slice(0, -1), { ...open, tokens: readOpen(open.raw, links, settled) }];
}

function readOpen(raw: string, links: Links, settled: SettledParts | undefined): readonly Token[] {
  if (settled) {
    const [first, ...others] = lex(closeOpenMarks(settled.head + raw.slice(settled.length)), links);
    const whole = withSettledParts(settled, first);
    if (whole) return [whole, ...others];
  }
  const tokens = lex(closeOpenMarks(raw), links);
  // The first row of a table looks like a sentence until the row of dashes is whole.
  const [first] = tokens;
  return first?.type === "paragraph" && raw.trimStart().startsWith("|") ? [] : tokens;
}

/** As marked reads it, but that links lead where `links` says alone: a definition that is not whole would be half an address. */
function lex(text: string, links: Links): Token[] {
  const lexer = new Lexer();
  lexer.blockTokens(text, lexer.tokens);
  lexer.tokens.links = links;
  for (const { src, tokens } of lexer.inlineQueue) {
    lexer.state.inRawBlock = false;
    lexer.inlineTokens(src, tokens);
  }
  return lexer.tokens;
}

/** Definitions within lists and quotes count as well. */
function definedIn(blocks: readonly Block[]): Links {
  const links: Links = {};
  const collect = (tokens: readonly Token[]): void => {
    for (const token of tokens) {
      if (token.type === "def") links[token.tag] ??= { href: token.href, title: token.title };
      else if (token.type === "list") collect((token as Tokens.List).items);
      else if (token.type === "blockquote" || token.type === "list_item") collect(token.tokens ?? []);
    }
  };
  for (const { tokens, raw } of blocks) if (raw.includes("]:")) collect(tokens);
  return links;
}

function withLinks(block: Block, links: Links): Block {
  const [first] = block.tokens;
  if (first === undefined || first.type === "def" || first.type === "code" || !block.raw.includes("["))
    return block;
  return { ...block, tokens: lex(block.raw, links).filter(({ type }) => type !== "space") };
}
