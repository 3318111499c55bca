export interface SqlToken {
  /** As written; of words also in lower case. */
  readonly text: string;
  readonly word: string;
  readonly start: number;
  readonly end: number;
  /** Parentheses and `case … end` around it. */
  readonly depth: number;
}

const TOKEN =
  /\s+|--[^\n]*|\/\*[\s\S]*?\*\/|'(?:[^']|'')*'|"(?:[^"]|"")*"|[A-Za-z_][A-Za-z0-9_]*|\$\d+|\d+(?:\.\d+)?|<=|>=|<>|!=|::|:=|->>|->|\|\||\$[A-Za-z_]*\$|[^\s]/gy;

/**
 * The tokens of a statement, without spaces and comments. A dollar-quoted body is cut into tokens like the rest: its quotes are
 * tokens of their own, so that the statements in it are mutated, too.
 */
export function sqlTokens(sql: string): readonly SqlToken[] {
  const tokens: SqlToken[] = [];
  let depth = 0;
  let cases = 0;
  for (const { 0: text, index } of sql.matchAll(TOKEN)) {
    if (/^(\s|--|\/\*)/.test(text)) continue;
    const word = text.toLowerCase();
    const closesCase = word === "end" && cases > 0;
    if (text === ")" || closesCase) depth -= 1;
    if (closesCase) cases -= 1;
    tokens.push({ text, word, start: index, end: index + text.length, depth });
    if (text === "(" || word === "case") depth += 1;
    if (word === "case") cases += 1;
  }
  return tokens;
}
