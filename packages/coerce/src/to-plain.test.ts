import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readMessage, toMessage } from "./read-message.js";
import { toPlain } from "./to-plain.js";

/** Shaped like a LangChain message object: fields on the instance, a copy of the constructor's in `lc_kwargs`. */
class LiveMessage {
  readonly lc_kwargs: object;
  id: string | undefined;
  constructor(
    readonly type: string,
    readonly fields: Readonly<Record<string, unknown>>,
  ) {
    this.lc_kwargs = fields;
    Object.assign(this, fields);
  }
  getType() {
    return this.type;
  }
  toDict() {
    return {};
  }
  toJSON() {
    return { lc: 1, type: "constructor", id: ["x", "AIMessage"], kwargs: this.fields };
  }
}

describe("toPlain", () => {
  it.each([
    ["an Error, without its stack", new RangeError("no"), { name: "RangeError", message: "no" }],
    [
      "a Map",
      new Map<unknown, unknown>([
        ["a", 1],
        [{ k: 1 }, 2],
      ]),
      { a: 1, '{"k":1}': 2 },
    ],
    ["a Set", new Set([1, "b"]), [1, "b"]],
    ["bytes", new TextEncoder().encode("hi"), { type: "bytes", length: 2, text: "hi" }],
    ["other typed arrays", new Float64Array([0.5, Number.NaN]), [0.5, "NaN"]],
    ["a bigint that fits", 5n, 5],
    ["a bigint that does not", 2n ** 70n, "1180591620717411303424"],
    ["a date", new Date(0), "1970-01-01T00:00:00.000Z"],
    ["a URL", new URL("https://example.org/a"), "https://example.org/a"],
    ["undefined", undefined, null],
    ["a function", function named() {}, "[function named]"],
    ["an object with toJSON", { toJSON: () => ({ a: 1 }) }, { a: 1 }],
    [
      "a class of its own",
      Object.create({ inherited: 1 }, { own: { value: 2, enumerable: true } }),
      { own: 2 },
    ],
  ])("survives %s", (_, value, plain) => {
    expect(toPlain(value)).toEqual(plain);
  });

  it("survives cycles, getters that throw, throwing proxies and a key that names the prototype", () => {
    const cyclic: Record<string, unknown> = { a: 1 };
    cyclic.self = cyclic;
    expect(toPlain(cyclic)).toEqual({ a: 1, self: "[circular]" });
    const trap = Object.defineProperty({ a: 1 }, "b", {
      enumerable: true,
      get: () => {
        throw new Error("no");
      },
    });
    expect(toPlain(trap)).toEqual({ a: 1 });
    const proxy = new Proxy(
      {},
      {
        ownKeys: () => {
          throw new Error("no");
        },
      },
    );
    expect(toPlain([proxy, 1])).toEqual(["[unreadable]", 1]);
    const evil: unknown = JSON.parse('{"__proto__":{"polluted":true}}');
    expect(JSON.stringify(toPlain(evil))).toBe('{"__proto__":{"polluted":true}}');
    expect(Reflect.get({}, "polluted")).toBeUndefined();
  });

  it("reads the properties of a value whose serializer throws", () => {
    const value = {
      a: 1,
      _own: 2,
      toJSON: () => {
        throw new Error("no");
      },
    };
    expect(toPlain([value])).toEqual([{ a: 1, _own: 2 }]);
  });

  it("knows one zero, as JSON does", () => {
    expect(toPlain([-0, Float64Array.of(-0)])).toEqual([0, [0]]);
  });

  it("gives something that JSON can carry for anything at all", () => {
    const anything = fc.anything({
      withBigInt: true,
      withMap: true,
      withSet: true,
      withTypedArray: true,
      withDate: true,
      withNullPrototype: true,
      withSparseArray: true,
    });
    fc.assert(
      fc.property(anything, (value) => {
        const plain = toPlain(value);
        expect(JSON.parse(JSON.stringify(plain))).toEqual(plain);
      }),
      { numRuns: 500 },
    );
  });

  it("is the same reference when nothing changed, and shares what did not change", () => {
    const before = toPlain({ a: { b: [1, { c: 2 }] }, d: [3] });
    expect(toPlain({ a: { b: [1, { c: 2 }] }, d: [3] }, before)).toBe(before);
    const after = toPlain({ a: { b: [1, { c: 2 }] }, d: [4] }, before);
    expect(after).not.toBe(before);
    expect(Reflect.get(Object(after), "a")).toBe(Reflect.get(Object(before), "a"));
  });

  it("equals a plain copy whatever the copy before it was", () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (value, previous) => {
        expect(toPlain(value, toPlain(previous))).toEqual(toPlain(value));
      }),
      { numRuns: 500 },
    );
  });

  it("leaves out what has become undefined, whatever changed beside it", () => {
    const before = toPlain({ a: 1, b: 1, c: { d: 1, e: 1 } });
    expect(toPlain({ a: undefined, b: 2, c: { d: undefined, e: 1 } }, before)).toEqual({ b: 2, c: { e: 1 } });
    expect(toPlain({ a: undefined, b: 1, c: { d: 1, e: 1 } }, before)).toEqual({ b: 1, c: { d: 1, e: 1 } });
  });

  it("does not follow what a node changes later", () => {
    const live = { plan: ["a"] };
    const copy = toPlain(live);
    live.plan.push("b");
    expect(copy).toEqual({ plan: ["a"] });
  });
});

describe("a message", () => {
  const fields = {
    id: "m1",
    content: [
      { type: "reasoning", reasoning: "hm" },
      { type: "text", text: "hi" },
    ],
    tool_calls: [{ id: "c1", name: "clock", args: { zone: "UTC" } }],
    usage_metadata: { input_tokens: 1, output_tokens: 2 },
    response_metadata: { finish_reason: "stop", model_name: "m" },
  };
  const said = {
    id: "m1",
    role: "assistant",
    content: "hi",
    reasoning: "hm",
    tool_calls: [{ id: "c1", name: "clock", args: '{"zone":"UTC"}' }],
  };

  it.each([
    ["the server's flat form", { ...fields, type: "ai" }],
    [
      "LangChain's constructor encoding",
      { lc: 1, type: "constructor", id: ["langchain_core", "messages", "AIMessage"], kwargs: fields },
    ],
    ["a live object", new LiveMessage("ai", fields)],
    ["Python's class names", { ...fields, type: "AIMessageChunk" }],
  ])("reads the same from %s", (_, raw) => {
    expect(toMessage(raw)).toEqual(said);
    expect(readMessage(raw)).toMatchObject({
      text: "hi",
      reasoning: "hm",
      usage: { input_tokens: 1, output_tokens: 2, total_tokens: 3 },
      finishReason: "stop",
      model: "m",
    });
  });

  it.each([
    ["Anthropic", { content: [{ type: "thinking", thinking: "hm" }] }],
    ["DeepSeek", { content: "", additional_kwargs: { reasoning_content: "hm" } }],
    [
      "OpenAI",
      { content: "", additional_kwargs: { reasoning: { summary: [{ type: "summary_text", text: "hm" }] } } },
    ],
  ])("is heard thinking in %s's way", (_, fields) => {
    expect(readMessage({ type: "ai", ...fields })?.reasoning).toBe("hm");
  });

  it.each([
    ["finish_reason", "stop"],
    ["stop_reason", "end_turn"],
    ["finishReason", "STOP"],
    ["stopReason", "tool_use"],
    ["done_reason", "stop"],
    ["status", "completed"],
  ])("ends by a %s", (key, reason) => {
    expect(readMessage({ type: "ai", content: "", response_metadata: { [key]: reason } })?.finishReason).toBe(
      reason,
    );
  });

  it.each([
    ["a part", { content: [{ type: "refusal", refusal: "I can't." }] }],
    ["a field beside an empty content", { content: [], additional_kwargs: { refusal: "I can't." } }],
  ])("that refuses says so in its text, told as %s", (_, fields) => {
    expect(toMessage({ type: "ai", id: "m", ...fields })?.content).toBe("I can't.");
  });

  it("goes on while its status is in progress", () => {
    const message = { type: "ai", content: "", response_metadata: { status: "in_progress" } };
    expect(readMessage(message)?.finishReason).toBeUndefined();
  });

  it("keeps media parts of a person's message and drops kinds no client shows", () => {
    const image = { type: "image_url", image_url: { url: "https://example.org/a.png" } };
    expect(
      toMessage({ type: "human", id: "u", content: [{ type: "text", text: "see" }, image] })?.content,
    ).toEqual([{ type: "text", text: "see" }, image]);
    expect(toMessage({ type: "remove", id: "u" })).toBeUndefined();
    expect(toMessage("nothing")).toBeUndefined();
  });
});
