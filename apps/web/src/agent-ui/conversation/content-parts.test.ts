import { describe, expect, it } from "vitest";
import { contentFiles, filesInText } from "./attachments";

describe("content", () => {
  it("finds the files that a tool's answer shows in its text, and no others", () => {
    const text =
      "Two:\n\n![a \\[1\\].png](throughline:attachment/abc-_1)\n\n[b.pdf](throughline:attachment/x) ![c](https://a.example/c.png)";
    expect(filesInText(text)).toMatchObject([
      { kind: "image", id: "abc-_1", filename: "a [1].png" },
      { kind: "document", id: "x", filename: "b.pdf" },
    ]);
  });

  it("names files as they are sent and as the service tells them", () => {
    expect(
      contentFiles([
        { type: "binary", mimeType: "image/png", id: "x", filename: "dot.png" },
        {
          type: "document",
          source: { type: "url", value: "throughline:attachment/y", mimeType: "text/plain" },
        },
        { type: "image", source: { type: "url", value: "https://example.com/a.png" } },
      ]),
    ).toMatchObject([
      { kind: "image", id: "x", filename: "dot.png" },
      { kind: "document", id: "y", url: undefined, mimeType: "text/plain" },
      { kind: "image", id: undefined, url: "https://example.com/a.png" },
    ]);
  });
});
