import { attachmentUrl, storedBytesUrl } from "@throughline/ai-core";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readMedia } from "./media.js";
import { storedPart } from "./media-part.js";
import { readMessage, toMessage } from "./read-message.js";
import { type InlineMedia, replaceMedia } from "./replace-media.js";
import { toPlain } from "./to-plain.js";

const DATA = Buffer.from("not really a picture ".repeat(40)).toString("base64");
const PNG = `data:image/png;base64,${DATA}`;

/** Every spelling of a block with bytes, what it is, and what it is called. */
const BLOCKS: readonly [string, object, { kind: string; mimeType: string; name?: string }][] = [
  [
    "LangChain 1",
    { type: "image", data: DATA, mimeType: "image/png" },
    { kind: "image", mimeType: "image/png" },
  ],
  [
    "LangChain 1 in Python",
    { type: "audio", base64: DATA, mime_type: "audio/mpeg" },
    { kind: "audio", mimeType: "audio/mpeg" },
  ],
  [
    "LangChain 1 with bytes",
    { type: "video", data: Buffer.from(DATA, "base64"), mimeType: "video/mp4" },
    { kind: "video", mimeType: "video/mp4" },
  ],
  [
    "LangChain 0",
    {
      type: "file",
      source_type: "base64",
      data: DATA,
      mime_type: "application/pdf",
      metadata: { filename: "a.pdf" },
    },
    { kind: "file", mimeType: "application/pdf", name: "a.pdf" },
  ],
  ["OpenAI", { type: "image_url", image_url: { url: PNG } }, { kind: "image", mimeType: "image/png" }],
  ["OpenAI, short", { type: "image_url", image_url: PNG }, { kind: "image", mimeType: "image/png" }],
  [
    "OpenAI's audio",
    { type: "input_audio", input_audio: { data: DATA, format: "mp3" } },
    { kind: "audio", mimeType: "audio/mp3" },
  ],
  [
    "OpenAI's files",
    { type: "file", file: { file_data: `data:application/pdf;base64,${DATA}`, filename: "b.pdf" } },
    { kind: "file", mimeType: "application/pdf", name: "b.pdf" },
  ],
  [
    "OpenAI's image tool",
    { type: "image_generation_call", id: "ig", result: DATA, output_format: "webp" },
    { kind: "image", mimeType: "image/webp" },
  ],
  [
    "Anthropic",
    { type: "image", source: { type: "base64", media_type: "image/jpeg", data: DATA } },
    { kind: "image", mimeType: "image/jpeg" },
  ],
  [
    "Anthropic's documents",
    {
      type: "document",
      title: "c.pdf",
      source: { type: "base64", media_type: "application/pdf", data: DATA },
    },
    { kind: "file", mimeType: "application/pdf", name: "c.pdf" },
  ],
  ["MCP", { type: "image", data: DATA, mimeType: "image/gif" }, { kind: "image", mimeType: "image/gif" }],
  [
    "MCP's resources",
    { type: "resource", resource: { uri: "file:///tmp/d.csv", mimeType: "text/csv", blob: DATA } },
    { kind: "file", mimeType: "text/csv", name: "d.csv" },
  ],
  ["Google", { inlineData: { mimeType: "image/png", data: DATA } }, { kind: "image", mimeType: "image/png" }],
  [
    "Google in Python",
    { inline_data: { mime_type: "audio/wav", data: DATA } },
    { kind: "audio", mimeType: "audio/wav" },
  ],
  [
    "Google's media",
    { type: "media", mimeType: "video/mp4", data: DATA },
    { kind: "video", mimeType: "video/mp4" },
  ],
  ["no type of file", { type: "image", data: DATA }, { kind: "image", mimeType: "image/png" }],
];

const NO_MEDIA: readonly object[] = [
  { type: "text", text: DATA },
  { type: "image" },
  { type: "image", data: "no, this is a sentence." },
  { type: "document", data: "Annual report", title: "x", score: 3 },
  { type: "file", data: "A report on the state of the annual sales of the company and others " },
  { type: "document", source: { type: "text", media_type: "text/plain", data: "The grass is green" } },
  { type: "document", source: { type: "text", media_type: "text/plain", data: DATA } },
  { type: "tool_use", input: { data: DATA } },
  { data: DATA },
  {},
];

/** A message as LangChain's classes make it, as far as anything here looks. */
class LiveMessage {
  readonly lc_kwargs: object;
  readonly content: unknown;
  readonly id = "m";

  constructor(fields: { readonly content: unknown; readonly tool_call_chunks?: readonly unknown[] }) {
    this.lc_kwargs = fields;
    this.content = fields.content;
    Object.assign(this, fields);
  }

  getType(): string {
    return "ai";
  }

  toDict(): object {
    return this.lc_kwargs;
  }
}

class LiveToolMessage extends LiveMessage {
  readonly tool_call_id = "c";

  override getType(): string {
    return "tool";
  }
}

const named = (media: InlineMedia) => storedPart(media, "one", 840);

describe("readMedia", () => {
  it.each(BLOCKS)("reads a block of %s", (_, block, expected) => {
    expect(readMedia(block)).toMatchObject({ ...expected, source: { kind: "inline" } });
  });

  it.each(NO_MEDIA.map((block) => [JSON.stringify(block).slice(0, 60), block] as const))(
    "leaves %s alone",
    (_, block) => {
      expect(readMedia(block)).toBeUndefined();
    },
  );

  it("tells media by URL and stored media from bytes", () => {
    expect(readMedia({ type: "image_url", image_url: { url: "https://a.example/b.png" } })?.source).toEqual({
      kind: "url",
      url: "https://a.example/b.png",
    });
    const url = storedBytesUrl({ id: "one", bytes: 840, prefix: "data:image/png;base64," });
    expect(readMedia({ type: "image_url", image_url: { url } })).toMatchObject({
      mimeType: "image/png",
      source: { kind: "stored", stored: { id: "one", bytes: 840, prefix: "data:image/png;base64," } },
    });
  });
});

describe("replaceMedia", () => {
  it.each(BLOCKS)("puts a reference in the place of a block of %s, in a message of any class", (_, block) => {
    const message = new LiveToolMessage({ content: [block] });
    const told = replaceMedia({ messages: [message], other: [{ deep: block }] }, named);
    expect(JSON.stringify(Reflect.get(Object(toPlain(told)), "messages"))).not.toMatch(/[A-Za-z0-9+/]{256}/);
    expect(toPlain(told)).toMatchObject({
      messages: [{ content: [{ url: attachmentUrl("one") }] }],
      // Where nothing says what kind of file it is, a value of the state is the graph's own.
      other: [
        {
          deep:
            "data" in block && Object.keys(block).length === 2 && "type" in block
              ? block
              : { url: attachmentUrl("one") },
        },
      ],
    });
    expect(message.content).toEqual([block]);
  });

  it("gives back the value itself where there is nothing to replace, and looks at it once", () => {
    const clean = new WeakSet<object>();
    const value = { messages: [new LiveMessage({ content: "hi" })], plan: [{ step: 1 }] };
    expect(replaceMedia(value, named, clean)).toBe(value);
    expect(clean.has(value.messages)).toBe(true);
  });

  it("ends where a value holds itself", () => {
    const value: { self?: unknown; block: object } = {
      block: { type: "image", data: DATA, mimeType: "image/png" },
    };
    value.self = value;
    expect(toPlain(replaceMedia(value, named))).toMatchObject({ block: { url: attachmentUrl("one") } });
  });
});

describe("State without files", () => {
  const text = fc.oneof(
    fc.string(),
    fc.lorem(),
    fc.base64String({ maxLength: 60 }),
    fc.base64String({ minLength: 64 }).map((data) => `${data} `),
    fc.constantFrom("data: a, b", "data:", "https://example.org/a.png"),
  );
  /** A record that has the names of a media block, and means something else by them. */
  const lookalike = fc.record(
    {
      type: fc.constantFrom("image", "audio", "video", "file", "document", "media", "resource", "text"),
      data: text,
      base64: text,
      url: text,
      title: text,
      score: fc.integer(),
      source: fc.record({ type: fc.constantFrom("text", "content", "url"), data: text, media_type: text }),
      mimeType: fc.constantFrom("text/plain", "image/png"),
      children: fc.jsonValue(),
    },
    { requiredKeys: ["type"] },
  );
  const state = fc.dictionary(fc.string(), fc.oneof(lookalike, fc.array(lookalike), fc.jsonValue()));

  it("passes unchanged", () => {
    fc.assert(
      fc.property(state, (value) => {
        const plain: unknown = JSON.parse(JSON.stringify(value));
        expect(replaceMedia(plain, named)).toBe(plain);
        expect(toPlain(plain)).toEqual(plain);
      }),
      { numRuns: 1_000 },
    );
  });

  it("passes unchanged with base64 of its own, where nothing says that it is a file", () => {
    const state = { rows: [{ type: "document", data: DATA, score: 3 }] };
    expect(replaceMedia(state, named)).toBe(state);
    expect(toPlain(state)).toEqual(state);
  });
});

describe("A message with media", () => {
  const blocks = [
    { type: "text", text: "Here: " },
    { type: "image", data: DATA, mimeType: "image/png" },
    { type: "text", text: "done" },
    { type: "text", text: "." },
  ];
  const reference = storedPart(
    { kind: "image", mimeType: "image/png", name: undefined } as never,
    "one",
    840,
  );

  it("says its words and media in order, in a chunk and whole", () => {
    const chunk = replaceMedia(new LiveMessage({ content: blocks, tool_call_chunks: [] }), named);
    const parts = [{ type: "text", text: "Here: " }, reference, { type: "text", text: "done." }];
    expect(readMessage(chunk)).toMatchObject({ isChunk: true, parts });
    const whole = replaceMedia(new LiveMessage({ content: blocks }), named);
    expect(toMessage(whole)?.content).toEqual(parts);
    expect(readMessage(new LiveMessage({ content: "words" }))?.parts).toBeUndefined();
  });

  it("is the same read from a checkpoint that names what was stored", () => {
    const url = storedBytesUrl({ id: "one", bytes: 840, prefix: "" });
    const stored = blocks.map((block) => (block.type === "image" ? { ...block, data: url } : block));
    for (const message of [
      (content: unknown) => new LiveMessage({ content }),
      (content: unknown) => new LiveToolMessage({ content }),
    ]) {
      expect(toMessage(message(stored))).toEqual(toMessage(replaceMedia(message(blocks), named)));
    }
  });

  it("is named in words where its bytes were not taken out before", () => {
    const words = "Here: [image/png: not stored]done.";
    expect(toMessage(new LiveMessage({ content: blocks }))?.content).toBe(words);
    const result = new LiveToolMessage({ content: blocks });
    expect(toMessage(result)?.content).toBe(words);
  });
});
