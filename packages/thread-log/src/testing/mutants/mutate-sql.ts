import { type SqlToken, sqlTokens } from "./sql-tokens.js";

export interface SqlMutant {
  /** Says what was changed; unique in its statement. */
  readonly change: string;
  readonly text: string;
}

interface Edit {
  readonly change: string;
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** Every statement that differs from this one by one small mistake. */
export function mutateSql(sql: string): readonly SqlMutant[] {
  const tokens = sqlTokens(sql);
  const edits = [
    ...conditions(sql, tokens),
    ...comparisons(tokens),
    ...locks(sql, tokens),
    ...conflicts(sql, tokens),
    ...orders(sql, tokens),
    ...extremes(sql, tokens),
    ...distincts(sql, tokens),
  ];
  const seen = new Map<string, number>();
  return edits.map(({ change, start, end, text }) => {
    const count = (seen.get(change) ?? 0) + 1;
    seen.set(change, count);
    return {
      change: count === 1 ? change : `${change} (${count})`,
      text: `${sql.slice(0, start)}${text}${sql.slice(end)}`,
    };
  });
}

const ENDS_CONDITION = new Set(
  "group order limit offset returning for union window having where join inner cross full then loop ; $function$ from set".split(
    " ",
  ),
);

/** Conditions of `where`, joins, `having` and plpgsql's `if`, and of the branches of `case`. */
function conditions(sql: string, tokens: readonly SqlToken[]): Edit[] {
  return tokens.flatMap((token, index) => {
    const next = tokens[index + 1];
    const before = tokens[index - 1]?.word;
    const isJoin = token.word === "on" && next?.word !== "conflict" && before !== "distinct";
    const isIf = token.word === "if" && before !== "end" && next?.word !== "not";
    if (token.word === "when") return branch(sql, tokens, index);
    if (!isJoin && !isIf && token.word !== "where" && token.word !== "having") return [];
    return condition(sql, tokens.slice(index + 1, endOfCondition(tokens, index)));
  });
}

function endOfCondition(tokens: readonly SqlToken[], from: number): number {
  const depth = tokens[from]?.depth ?? 0;
  for (let index = from + 1; index < tokens.length; index++) {
    const token = tokens[index];
    if (!token || token.depth < depth) return index;
    if (token.depth > depth) continue;
    const next = tokens[index + 1]?.word;
    if ((token.word === "left" || token.word === "right") && (next === "join" || next === "outer"))
      return index;
    if (token.word === "on" || token.word === "do") return index;
    // `is distinct from` is a comparison.
    if (token.word === "from" && tokens[index - 1]?.word === "distinct") continue;
    if (ENDS_CONDITION.has(token.word)) return index;
  }
  return tokens.length;
}

/** A condition that always holds, or a branch of it that never does; the parameters in it stay, so that their types are known. */
function condition(sql: string, tokens: readonly SqlToken[]): Edit[] {
  const disjuncts = split(tokens, "or");
  if (disjuncts.length > 1) {
    return disjuncts.flatMap((part) => [...dropped(sql, part, "and false", "never"), ...inside(sql, part)]);
  }
  return split(tokens, "and").flatMap((part) => [
    ...dropped(sql, part, "or true", "drop"),
    ...nested(sql, part),
  ]);
}

/** Conjuncts of a disjunct, of which there must be several: one alone is the disjunct. */
function inside(sql: string, tokens: readonly SqlToken[]): Edit[] {
  const conjuncts = split(tokens, "and");
  if (conjuncts.length === 1) return nested(sql, tokens);
  return conjuncts.flatMap((part) => [...dropped(sql, part, "or true", "drop"), ...nested(sql, part)]);
}

/** In parentheses of its own. */
function nested(sql: string, tokens: readonly SqlToken[]): Edit[] {
  const [first, last] = [tokens[0], tokens.at(-1)];
  if (first?.text !== "(" || last?.text !== ")" || tokens[1]?.word === "select") return [];
  const content = tokens.slice(1, -1);
  if (content.some(({ depth }) => depth <= first.depth)) return [];
  return split(content, "or").length + split(content, "and").length > 2 ? condition(sql, content) : [];
}

function dropped(sql: string, tokens: readonly SqlToken[], how: string, verb: string): Edit[] {
  const range = rangeOf(tokens);
  if (!range) return [];
  const text = sql.slice(range.start, range.end);
  if (text === "true") return [];
  return [{ change: `${verb}: ${shortly(text)}`, ...range, text: `((${text}) ${how})` }];
}

/** `case when … then`: the branch is never taken. */
function branch(sql: string, tokens: readonly SqlToken[], from: number): Edit[] {
  const end = tokens.findIndex(
    (token, index) => index > from && token.word === "then" && token.depth === tokens[from]?.depth,
  );
  return end === -1 ? [] : dropped(sql, tokens.slice(from + 1, end), "and false", "never");
}

function split(tokens: readonly SqlToken[], by: "and" | "or"): SqlToken[][] {
  const depth = Math.min(...tokens.map((token) => token.depth));
  const parts: SqlToken[][] = [[]];
  let isBetween = false;
  for (const token of tokens) {
    const isTop = token.depth === depth;
    if (isTop && token.word === "between") isBetween = true;
    if (isTop && token.word === by && !(by === "and" && isBetween)) parts.push([]);
    else parts.at(-1)?.push(token);
    if (isTop && token.word === "and") isBetween = false;
  }
  return parts;
}

const OTHER_BOUND: Readonly<Record<string, string>> = { "<": "<=", "<=": "<", ">": ">=", ">=": ">" };

/** Two readings of a clock never meet, so that a bound by it can't be told from the other. */
const CLOCK = /^(clock_timestamp|now|moment)$/;

function comparisons(tokens: readonly SqlToken[]): Edit[] {
  return tokens.flatMap((token, index) => {
    const other = OTHER_BOUND[token.text];
    if (other === undefined) return [];
    const around = tokens.slice(Math.max(0, index - 3), index + 4).map(({ text }) => text);
    if (around.some((text) => CLOCK.test(text))) return [];
    return [
      { change: `${other} instead of: ${around.join(" ")}`, start: token.start, end: token.end, text: other },
    ];
  });
}

/** `for update`, `for share` and the like, with what belongs to it; and `skip locked` alone. */
function locks(sql: string, tokens: readonly SqlToken[]): Edit[] {
  return tokens.flatMap((token, index) => {
    const words = tokens.slice(index, index + 4).map(({ word }) => word);
    if (token.word !== "for" || !/^for (update|share|no key|key share)/.test(words.join(" "))) return [];
    let end = index + 1;
    while (/^(update|share|no|key|of|,|skip|locked|nowait|[a-z_]+)$/.test(tokens[end]?.word ?? "")) {
      const isName = !/^(update|share|no|key|of|,|skip|locked|nowait)$/.test(tokens[end]?.word ?? "");
      if (isName && !/^(of|,)$/.test(tokens[end - 1]?.word ?? "")) break;
      end += 1;
    }
    const clause = tokens.slice(index, end);
    const edits = removed(sql, clause, "no lock");
    const skip = clause.findIndex(({ word }) => word === "skip");
    return skip === -1 ? edits : [...edits, ...removed(sql, clause.slice(skip, skip + 2), "wait")];
  });
}

function conflicts(sql: string, tokens: readonly SqlToken[]): Edit[] {
  return tokens.flatMap((token, index) => {
    if (token.word !== "on" || tokens[index + 1]?.word !== "conflict") return [];
    const doing = tokens.findIndex((each, at) => at > index && each.word === "do");
    let end = doing + 1;
    while (end < tokens.length) {
      const each = tokens[end];
      if (!each || each.depth < token.depth) break;
      if (each.depth === token.depth && (each.word === "returning" || each.text === ";")) break;
      end += 1;
    }
    const clause = tokens.slice(index, end);
    if (tokens[doing + 1]?.word === "nothing") return removed(sql, clause, "fail on conflict");
    const action = rangeOf(tokens.slice(doing, end));
    return action ? [{ change: "do nothing on conflict", ...action, text: "do nothing" }] : [];
  });
}

const ENDS_ORDER = new Set("limit offset for union returning ; $function$ rows range".split(" "));

function orders(sql: string, tokens: readonly SqlToken[]): Edit[] {
  return tokens.flatMap((token, index) => {
    if (token.word !== "order" || tokens[index + 1]?.word !== "by") return [];
    const items: SqlToken[][] = [[]];
    for (const each of tokens.slice(index + 2)) {
      if (each.depth < token.depth || (each.depth === token.depth && ENDS_ORDER.has(each.word))) break;
      if (each.depth === token.depth && each.text === ",") items.push([]);
      else items.at(-1)?.push(each);
    }
    return items.flatMap((item) => {
      const [range, last] = [rangeOf(item), item.at(-1)];
      if (!range || !last) return [];
      const text = sql.slice(range.start, range.end);
      const bare = text.replace(/\s+(asc|desc)$/i, "");
      const turned = last.word === "desc" ? bare : `${bare} desc`;
      return [{ change: `turn order: ${shortly(text)}`, ...range, text: turned }];
    });
  });
}

/** `greatest` and `least` without one of what they choose from. */
function extremes(sql: string, tokens: readonly SqlToken[]): Edit[] {
  return tokens.flatMap((token, index) => {
    if (token.word !== "greatest" && token.word !== "least") return [];
    const close = tokens.findIndex(
      (each, at) => at > index + 1 && each.text === ")" && each.depth === token.depth,
    );
    const items: SqlToken[][] = [[]];
    for (const each of tokens.slice(index + 2, close)) {
      if (each.text === "," && each.depth === token.depth + 1) items.push([]);
      else items.at(-1)?.push(each);
    }
    const end = tokens[close]?.end;
    const texts = items.map((item) => {
      const range = rangeOf(item);
      return range ? sql.slice(range.start, range.end) : "";
    });
    if (end === undefined) return [];
    return texts.map((text, at) => ({
      change: `${token.word} without: ${shortly(text)}`,
      start: token.start,
      end,
      text: `${token.word}(${texts.filter((_, other) => other !== at).join(", ")})`,
    }));
  });
}

function distincts(sql: string, tokens: readonly SqlToken[]): Edit[] {
  return tokens.flatMap((token, index) => {
    if (token.word !== "distinct" || tokens[index - 1]?.word !== "select") return [];
    if (tokens[index + 1]?.word !== "on") return removed(sql, [token], "keep doubles");
    const close = tokens.findIndex(
      (each, at) => at > index + 2 && each.text === ")" && each.depth === token.depth,
    );
    return removed(sql, tokens.slice(index, close + 1), "keep doubles");
  });
}

function removed(sql: string, tokens: readonly SqlToken[], verb: string): Edit[] {
  const range = rangeOf(tokens);
  return range
    ? [{ change: `${verb}: ${shortly(sql.slice(range.start, range.end))}`, ...range, text: "" }]
    : [];
}

function rangeOf(tokens: readonly SqlToken[]): { readonly start: number; readonly end: number } | undefined {
  const [first, last] = [tokens[0], tokens.at(-1)];
  return first && last && { start: first.start, end: last.end };
}

const MAX_SHOWN = 100;

function shortly(text: string): string {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length > MAX_SHOWN ? `${line.slice(0, MAX_SHOWN)}…` : line;
}
