import type { Token, Tokens } from "marked";

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

export type SettledParts = SettledItems | SettledRows;

/** The parts of a block's only token that no further text can change; `before` are those known already. */
export function settledParts(
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
export function withSettledParts(settled: SettledParts, rest: Token | undefined): Token | undefined {
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
