import { Lexer, type Links, type Token, type Tokens } from "marked";
import { closeOpenMarks } from "./open-marks";

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

/** A paragraph, a list, a table, a fence: what is drawn, and kept, as one. */
export interface Block {
  /** Where it begins, which is also its name: text only ever grows. */
  readonly at: number;
  readonly raw: string;
  readonly tokens: readonly Token[];
}

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
function isFirmBoundary(block: Block, next: Block): boolean {
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

/** The first items of a list that grows. Whatever text follows, they stay what they are. */
interface SettledItems {
  readonly type: "list";
  readonly list: Tokens.List;
  /** Whether they alone make the list a loose one. */
  readonly isLoose: boolean;
  /** Characters of the block that they take. */
  readonly length: number;
  /** What has to stand before the rest of the block for it to be read as a list or table of its own. */
  readonly head: string;
}

/** The first rows of a table that grows. */
interface SettledRows {
  readonly type: "table";
  readonly table: Tokens.Table;
  readonly length: number;
  readonly head: string;
}

type SettledParts = SettledItems | SettledRows;

/** The parts of a block's only token that no further text can change; `before` are those known already. */
function settledParts(
  token: Token | undefined,
  raw: string,
  before?: SettledParts,
): SettledParts | undefined {
  if (token?.type === "list")
    return settledItems(token as Tokens.List, before?.type === "list" ? before : undefined);
  if (token?.type === "table")
    return settledRows(token as Tokens.Table, raw, before?.type === "table" ? before : undefined);
  return undefined;
}

/**
 * The block's token, of its settled parts and a reading of the rest. `undefined` where the rest does not continue them: the
 * block has to be read as a whole.
 */
function withSettledParts(settled: SettledParts, rest: Token | undefined): Token | undefined {
  if (settled.type === "list")
    return rest?.type === "list" ? joinLists(settled, rest as Tokens.List) : undefined;
  if (rest?.type !== "table") return undefined;
  return { ...settled.table, rows: [...settled.table.rows, ...(rest as Tokens.Table).rows] };
}

/** An item is settled once the line of the next one is whole: until then that line may become a rule, or text. */
function settledItems(list: Tokens.List, before: SettledItems | undefined): SettledItems | undefined {
  const isLastLineWhole = list.items.at(-1)?.raw.includes("\n") ?? false;
  const count = list.items.length - (isLastLineWhole ? 1 : 2);
  if (count <= 0) return undefined;
  const items = list.items.slice(0, count);
  const added = items.slice(before?.list.items.length ?? 0);
  return {
    type: "list",
    list: { ...list, items },
    isLoose: (before?.isLoose ?? false) || added.some(isSpaced),
    length: added.reduce((sum, { raw }) => sum + raw.length, before?.length ?? 0),
    head: "",
  };
}

/** As marked decides it: a blank line behind an item or within it makes the list loose. */
function isSpaced({ raw, tokens }: Tokens.ListItem): boolean {
  return (
    /\n[ \t]*\n[ \t]*$/.test(raw) ||
    tokens.some((token) => token.type === "space" && /\n.*\n/.test(token.raw))
  );
}

function joinLists({ list, isLoose }: SettledItems, rest: Tokens.List): Tokens.List | undefined {
  const loose = isLoose || rest.loose;
  // Loose items can't be made tight again.
  if (list.loose && !loose) return undefined;
  const settled = loose && !list.loose ? list.items.map(loosen) : list.items;
  const added = loose && !rest.loose ? rest.items.map(loosen) : rest.items;
  return { ...list, loose, items: [...settled, ...added] };
}

function loosen(item: Tokens.ListItem): Tokens.ListItem {
  const tokens = item.tokens.map((token) =>
    token.type === "text" ? { ...token, type: "paragraph" } : token,
  );
  return { ...item, loose: true, tokens };
}

/** The last row may be half a row, and decides whether the one before it is the last. */
function settledRows(
  table: Tokens.Table,
  raw: string,
  before: SettledRows | undefined,
): SettledRows | undefined {
  const count = table.rows.length - 2;
  if (count <= 0) return undefined;
  const head = before?.head ?? raw.slice(0, endOfLines(raw, 0, 2));
  const known = before?.table.rows.length ?? 0;
  const length = endOfLines(raw, before?.length ?? head.length, count - known);
  return { type: "table", table: { ...table, rows: table.rows.slice(0, count) }, length, head };
}

function endOfLines(text: string, from: number, lines: number): number {
  let end = from;
  for (let line = 0; line < lines; line += 1) end = text.indexOf("\n", end) + 1;
  return end;
}
