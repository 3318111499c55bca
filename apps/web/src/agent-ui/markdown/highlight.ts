import { parse, type TokenType } from "sugar-high/core";
import { lang, languages } from "sugar-high/lang";

export interface Piece {
  readonly type: TokenType;
  readonly value: string;
}

/** The tokens of code, line by line; `undefined` for an unknown language. */
export function highlight(code: string, language: string): readonly (readonly Piece[])[] | undefined {
  const id = lang(language.toLowerCase());
  const config = languages.find((known) => known.id === id)?.config;
  if (id === undefined) return undefined;
  return parse(code, config).lines.map((line) => line.tokens);
}
