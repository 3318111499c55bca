import { Lexer, type Links, type Token, type Tokens } from "marked";
import { closeOpenMarks } from "./open-marks";

export interface Blocks {
  readonly text: string;
  readonly isGrowing: boolean;
  readonly list: readonly Block[];
  /** Number of leading blocks that no further text can change. */
  readonly firm: number;
  /** Items or rows of the first block after those that no further text can change. */
  readonly stable: StableParts | undefined;
  /** Targets of `[words][name]`, as defined in the firm blocks. */
  readonly links: Links;
}

/**
 * Parses a text into blocks, incrementally. If the text grew since `before`, only the part that may have changed is parsed again:
 * the last block, and in a list or table only its last items or rows. So a token costs the length of a paragraph, an item or a
 * row, not of the message. Unchanged blocks, items and rows retain their identity. Only a link definition affects earlier text:
 * blocks with a bracket are then parsed once more.
 */
export function readBlocks(source: string, isGrowing: boolean, before?: Blocks): Blocks {
  const text = source.includes("\r") ? source.replace(/\r\n?/g, "\n") : source;
  if (before?.text === text && before.isGrowing === isGrowing) return before;
  const start = before?.isGrowing && text.startsWith(before.text) ? before : undefined;
  const reused = start ? start.list.slice(0, start.firm) : [];
  const known = start?.links ?? {};
  const read = readRest(text, reused, known, start?.stable);
  const count = firmCount(read, reused.length);
  const links = { ...definedIn(isGrowing ? read.slice(reused.length, count) : read), ...known };
  const hasNewLinks = Object.keys(links).length > Object.keys(known).length;
  const list = hasNewLinks
    ? readRest(
        text,
        reused.map((block) => withLinks(block, links)),
        links,
      )
    : read;
  const first = list[count];
  const stable =
    first &&
    stableParts(
      first.tokens[0],
      first.raw,
      count === reused.length && !hasNewLinks ? start?.stable : undefined,
    );
  return {
    text,
    isGrowing,
    firm: count,
    stable,
    links,
    list: isGrowing ? withOpenEnd(list, links, count === list.length - 1 ? stable : undefined) : list,
  };
}

/** The firm blocks, followed by the blocks of the remaining text. */
function readRest(
  text: string,
  reused: readonly Block[],
  links: Links,
  stable?: StableParts,
): readonly Block[] {
  const last = reused.at(-1);
  const from = last ? last.at + last.raw.length : 0;
  if (stable) {
    const [first, ...others] = lex(stable.head + text.slice(from + stable.length), links);
    const whole = withStableParts(stable, first);
    if (first && whole) {
      const length = first.raw.length - stable.head.length + stable.length;
      return blocksOf(text, [...reused], from, [
        { ...whole, raw: text.slice(from, from + length) },
        ...others,
      ]);
    }
  }
  return blocksOf(text, [...reused], from, lex(text.slice(from), links));
}

/** Appends tokens as blocks. Blank lines belong to the block before them: the next block may still continue it. */
function blocksOf(text: string, reused: Block[], from: number, tokens: readonly Token[]): readonly Block[] {
  const blocks = reused;
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

/** Replaces the last block by its most likely meaning, with open marks closed. */
function withOpenEnd(
  list: readonly Block[],
  links: Links,
  stable: StableParts | undefined,
): readonly Block[] {
  const open = list.at(-1);
  if (!open) return list;
  return [...list.slice(0, -1), { ...open, tokens: readOpen(open.raw, links, stable) }];
}

function readOpen(raw: string, links: Links, stable: StableParts | undefined): readonly Token[] {
  if (stable) {
    const [first, ...others] = lex(closeOpenMarks(stable.head + raw.slice(stable.length)), links);
    const whole = withStableParts(stable, first);
    if (whole) return [whole, ...others];
  }
  const tokens = lex(closeOpenMarks(raw), links);
  // The first row of a table parses as a paragraph until the row of dashes is complete.
  const [first] = tokens;
  return first?.type === "paragraph" && raw.trimStart().startsWith("|") ? [] : tokens;
}

/** Lexes like marked, but resolves links by `links` alone: an incomplete definition would give half an address. */
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

/** Link definitions in blocks, including those within lists and quotes. */
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

/** A paragraph, list, table or fence: the unit of rendering and caching. */
export interface Block {
  /** Start offset, which is also its key: text only grows. */
  readonly at: number;
  readonly raw: string;
  readonly tokens: readonly Token[];
}

const STARTS_WITH_BRACKET = /^ {0,3}\[/;
/** A link definition with an open title, which may continue over blank lines. */
const OPEN_TITLE = /^ {0,3}\[[^\]]*\]:\s*\S+\s+["'(]/;
const ENDS_WITH_BLANK_LINE = /\n[ \t]*\n[ \t]*$/;
/** A bullet, or text that may become one. */
const MAYBE_BULLET = /^\s*[-+*\d]/;
/** A list item that interrupts a paragraph. Lists with an empty first item or another start number do not. */
const INTERRUPTING_ITEM = /^ {0,3}(?:[*+-]|1[.)])[ \t]+[^ \t\n]/;
const INTERRUPTS_TEXT = new Set(["code", "hr", "blockquote"]);

/**
 * Whether no further text can change that `block` ends where `next` begins. Conservative: a boundary that is wrongly not firm
 * only costs another parse.
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

/**
 * Whether a block interrupts a paragraph. A table counts once its row of dashes is complete; without a pipe, that row could still
 * become a heading's underline.
 */
function interruptsText({ raw, tokens }: Block): boolean {
  const type = tokens[0]?.type ?? "";
  if (type === "list") return INTERRUPTING_ITEM.test(raw);
  if (type === "heading") return /^ {0,3}#{1,6}\s/.test(raw);
  if (type === "table") return /^[^\n]*\n[^\n|]*\|[^\n]*\n/.test(raw);
  return INTERRUPTS_TEXT.has(type);
}

/** The first items of a growing list, which no further text can change. */
interface StableItems {
  readonly type: "list";
  readonly list: Tokens.List;
  /** Whether these items alone make the list loose. */
  readonly isLoose: boolean;
  /** Number of characters of the block that they occupy. */
  readonly length: number;
  /** Text to prepend to the rest of the block so that it parses as a list or table. */
  readonly head: string;
}

/** The first rows of a growing table. */
interface StableRows {
  readonly type: "table";
  readonly table: Tokens.Table;
  readonly length: number;
  readonly head: string;
}

type StableParts = StableItems | StableRows;

/** The parts of a block's only token that no further text can change. `before` holds those known already. */
function stableParts(token: Token | undefined, raw: string, before?: StableParts): StableParts | undefined {
  if (token?.type === "list")
    return stableItems(token as Tokens.List, before?.type === "list" ? before : undefined);
  if (token?.type === "table")
    return stableRows(token as Tokens.Table, raw, before?.type === "table" ? before : undefined);
  return undefined;
}

/**
 * Joins the stable parts with the parsed rest into the block's token. `undefined` where the rest does not continue them: then
 * the whole block has to be parsed.
 */
function withStableParts(stable: StableParts, rest: Token | undefined): Token | undefined {
  if (stable.type === "list")
    return rest?.type === "list" ? joinLists(stable, rest as Tokens.List) : undefined;
  if (rest?.type !== "table") return undefined;
  return { ...stable.table, rows: [...stable.table.rows, ...(rest as Tokens.Table).rows] };
}

/** An item is stable once the first line of the next one is complete: until then that line may become a rule, or text. */
function stableItems(list: Tokens.List, before: StableItems | undefined): StableItems | undefined {
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

/** Whether an item makes the list loose. As in marked: by a blank line after it or within it. */
function isSpaced({ raw, tokens }: Tokens.ListItem): boolean {
  return (
    /\n[ \t]*\n[ \t]*$/.test(raw) ||
    tokens.some((token) => token.type === "space" && /\n.*\n/.test(token.raw))
  );
}

function joinLists({ list, isLoose }: StableItems, rest: Tokens.List): Tokens.List | undefined {
  const loose = isLoose || rest.loose;
  // Loose items can't be converted back to tight ones.
  if (list.loose && !loose) return undefined;
  const stable = loose && !list.loose ? list.items.map(loosen) : list.items;
  const added = loose && !rest.loose ? rest.items.map(loosen) : rest.items;
  return { ...list, loose, items: [...stable, ...added] };
}

function loosen(item: Tokens.ListItem): Tokens.ListItem {
  const tokens = item.tokens.map((token) =>
    token.type === "text" ? { ...token, type: "paragraph" } : token,
  );
  return { ...item, loose: true, tokens };
}

/** The stable rows. The last row may be incomplete, and decides whether the one before it is the last. */
function stableRows(
  table: Tokens.Table,
  raw: string,
  before: StableRows | undefined,
): StableRows | undefined {
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
