import fc from "fast-check";
import { Lexer } from "marked";
import { createElement } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import { afterEach, describe, expect, it, vi } from "vitest";
import { type Block, type Blocks, readBlocks } from "./incremental-blocks";

import { RenderedBlock } from "./rendered-markdown";

afterEach(() => vi.restoreAllMocks());

function html(list: readonly Block[]): string {
  return renderToStaticMarkup(
    list.map((block) => createElement(RenderedBlock, { key: block.at, block, isGrowing: false })),
  );
}

const lines = (count: number, line: (at: number) => string): string =>
  Array.from({ length: count }, (_, at) => line(at)).join("\n");

const LIST = (items: number) => lines(items, (at) => `- item ${at} with **some** words`);
const SPACED_LIST = (items: number) => lines(items, (at) => `${at + 1}. item ${at}\n\n   and more of it\n`);
const TABLE = (rows: number) =>
  `| where | when |\n| --- | ---: |\n${lines(rows, (at) => `| place ${at} | ${at} |`)}`;

/** Characters that the lexer reads, nested ones each time, while the text comes in tokens of four characters. */
function lexedWhileGrowing(text: string): { readonly total: number; readonly most: number } {
  const lex = vi.spyOn(Lexer.prototype, "blockTokens");
  let grown: Blocks | undefined;
  let most = 0;
  for (let length = 4; length < text.length + 4; length += 4) {
    const calls = lex.mock.calls.length;
    grown = readBlocks(text.slice(0, length), true, grown);
    const lexed = lex.mock.calls.slice(calls).reduce((sum, [input]) => sum + input.length, 0);
    most = Math.max(most, lexed);
  }
  const total = lex.mock.calls.reduce((sum, [input]) => sum + input.length, 0);
  lex.mockRestore();
  return { total, most };
}

/** Pieces of which texts with blocks of every kind are made, whole and broken ones. */
const PIECES = [
  "- one",
  "- two **b",
  "* star",
  "+ plus",
  "1. first",
  "2. second",
  "10) paren",
  "- [ ] task",
  "- [x] done",
  "-",
  "- ",
  "1.",
  "  - nested",
  "   1. nested",
  "    deep",
  "  more",
  "\n",
  "\n\n",
  "\n",
  "\n\n",
  "\n  \n",
  "\n",
  "\n",
  "| a | b |",
  "| - | - |",
  "|---|:-:|",
  "| 1 | *2* |",
  "a | b",
  "-|-",
  "| half",
  ":--",
  "# Head",
  "#",
  "#tag",
  "## Sub\n",
  "===",
  "---",
  "***",
  "* * *",
  "- - -",
  "_ _ _",
  "```",
  "```js\ncode",
  "~~~",
  "`code`",
  "``",
  "    indented",
  "\tindented",
  "> quote",
  ">",
  "> - item",
  "lazy",
  "words ",
  "words and *more*",
  "**bold**",
  "_em_",
  "~~gone~~",
  "[t]",
  "[a][t]",
  "[t]: https://example.com/tides",
  ' "title"',
  "[link](https://example.com)",
  "![p](https://example.com/p.png)",
  "<div>",
  "</div>",
  "<!-- c",
  "-->",
  "<b>",
  "&amp;",
  "\\",
  "https://example.com",
];
const text = fc
  .array(fc.constantFrom(...PIECES), { minLength: 1, maxLength: 24 })
  .map((pieces) => pieces.join(""));
const sizes = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 6 });

describe("A text that grows", () => {
  it("is drawn as the whole text is, wherever it is split and wherever it stops", () => {
    fc.assert(
      fc.property(text, sizes, (whole, steps) => {
        let grown: Blocks | undefined;
        let length = 0;
        for (let step = 0; length < whole.length; step += 1) {
          length += steps[step % steps.length] ?? 1;
          const soFar = whole.slice(0, length);
          grown = readBlocks(soFar, true, grown);
          expect(html(readBlocks(soFar, false, grown).list)).toBe(
            html([{ at: 0, raw: soFar, tokens: Lexer.lex(soFar) }]),
          );
        }
      }),
      { numRuns: 150 },
    );
  });

  it.each([
    ["a list", LIST],
    ["a list with paragraphs", SPACED_LIST],
    ["a table", TABLE],
    ["a list behind a sentence", (items: number) => `Of these:\n${LIST(items)}`],
    ["a table behind a sentence", (rows: number) => `Of these:\n${TABLE(rows)}`],
  ])("is read at its end alone, were it %s of any length", (_, make) => {
    const [short, long] = [lexedWhileGrowing(make(40)), lexedWhileGrowing(make(160))];
    expect(long.most).toBeLessThan(400);
    expect(long.most).toBeLessThanOrEqual(short.most + 40);
    expect(long.total).toBeLessThan(5 * short.total);
  });

  it.each([
    ["items of a list", LIST],
    ["rows of a table", TABLE],
  ])("keeps the very %s that are whole", (_, make) => {
    const parts = ({ list }: Blocks): readonly unknown[] => {
      const [token] = list[0]?.tokens ?? [];
      return token?.type === "table" ? token.rows : ((token as { items?: unknown[] }).items ?? []);
    };
    const before = readBlocks(make(20), true, readBlocks(make(19), true));
    const after = readBlocks(`${make(20)}\n`, true, before);
    expect(parts(after)).toHaveLength(20);
    for (let at = 0; at < 18; at += 1) expect(parts(after)[at]).toBe(parts(before)[at]);
  });
});
