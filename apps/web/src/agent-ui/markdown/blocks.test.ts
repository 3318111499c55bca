import { describe, expect, it } from "vitest";
import { type Blocks, readBlocks } from "./incremental-blocks";

const TEXT = `# Tides

They come **twice** a day, and:

- with the moon
- against the wind

| where | when |
| ----- | ---- |
| here  | noon |

\`\`\`ts
const a = 1;

const b = 2;
\`\`\`

1. one

2. two

The end.`;

describe("readBlocks", () => {
  it("reads a text that grew by one character at a time as it reads the whole", () => {
    let grown: Blocks | undefined;
    for (let length = 1; length <= TEXT.length; length += 1) {
      grown = readBlocks(TEXT.slice(0, length), true, grown);
    }
    const stable = readBlocks(TEXT, false, grown);
    expect(stable.list).toEqual(readBlocks(TEXT, false).list);
    expect(stable.list.map(({ raw }) => raw).join("")).toBe(TEXT);
  });

  it("keeps the very blocks that did not change", () => {
    const before = readBlocks("One.\n\nTwo.\n\nThr", true);
    const after = readBlocks("One.\n\nTwo.\n\nThree.\n\nFour", true, before);
    expect(after.list).toHaveLength(4);
    expect(after.list[0]).toBe(before.list[0]);
    expect(after.list[1]).toBe(before.list[1]);
  });

  it("reads anew a text that was replaced", () => {
    const before = readBlocks("One.\n\nTwo.", false);
    expect(readBlocks("Another.\n\nTwo.", false, before).list[0]?.raw).toContain("Another.");
  });

  it.each([
    ["behind", "See [the tides][t] and [t].\n\nMore.\n\n[t]: https://example.com/tides\n\nThe end."],
    ["before", "[t]: https://example.com/tides\n\nMore.\n\nSee [the tides][t] and [t].\n\nThe end."],
  ])("resolves links whose definition stands %s them, also while the text grows", (_, text) => {
    let grown: Blocks | undefined;
    for (let length = 1; length <= text.length; length += 1) {
      grown = readBlocks(text.slice(0, length), true, grown);
    }
    expect(JSON.stringify(grown?.list)).toContain('"href":"https://example.com/tides","title"');
    const stable = readBlocks(text, false, grown);
    expect(stable.list).toEqual(readBlocks(text, false).list);
    const drawn = JSON.stringify(stable.list.flatMap(({ tokens }) => tokens));
    expect(drawn.match(/"type":"link"/g)).toHaveLength(2);
  });

  it("shows no row of a table before it is one", () => {
    expect(readBlocks("| where | wh", true).list[0]?.tokens).toEqual([]);
    expect(readBlocks("| where | when |\n| --- | --- |\n", true).list[0]?.tokens[0]?.type).toBe("table");
  });

  it("reads carriage returns as ends of lines", () => {
    expect(readBlocks("One.\r\n\r\nTwo.", false).list).toHaveLength(2);
  });
});
