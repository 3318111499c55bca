/** Those that models and people write. Marked reads numbers (`&#8212;`) itself, and leaves names to a browser that is given HTML. */
const CHARACTERS: Readonly<Record<string, string>> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
  nbsp: "\u00a0",
  shy: "\u00ad",
  ensp: "\u2002",
  emsp: "\u2003",
  thinsp: "\u2009",
  ndash: "–",
  mdash: "—",
  hellip: "…",
  lsquo: "‘",
  rsquo: "’",
  ldquo: "“",
  rdquo: "”",
  laquo: "«",
  raquo: "»",
  bull: "•",
  middot: "·",
  copy: "©",
  reg: "®",
  trade: "™",
  sect: "§",
  deg: "°",
  micro: "µ",
  plusmn: "±",
  times: "×",
  divide: "÷",
  minus: "−",
  ne: "≠",
  le: "≤",
  ge: "≥",
  asymp: "≈",
  infin: "∞",
  larr: "←",
  uarr: "↑",
  rarr: "→",
  darr: "↓",
  harr: "↔",
  cent: "¢",
  pound: "£",
  euro: "€",
  yen: "¥",
  check: "✓",
};

/** A text with `&lt;` as `<` and the like; a name that is not known stays as it is written. */
export function withNamedCharacters(text: string): string {
  return text.includes("&")
    ? text.replace(/&([a-z]+);/gi, (written, name: string) =>
        Object.hasOwn(CHARACTERS, name) ? (CHARACTERS[name] ?? written) : written,
      )
    : text;
}
