import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { CHAT_EVENTS, ERROR_EVENTS, MESSAGES_EVENTS, RESPONSES_EVENTS } from "../testing/litellm-answers.js";
import { createStreamUsage } from "./stream-usage.js";

function read(chunks: readonly Uint8Array[]) {
  const reading = createStreamUsage();
  for (const chunk of chunks) reading.push(chunk);
  const { ended, failed, usage, responseId } = reading;
  return { ended, failed, usage, responseId };
}

const encode = (events: readonly string[]) => new TextEncoder().encode(events.join(""));

describe("a stream's reading", () => {
  it.each([
    ["chat", CHAT_EVENTS, "chatcmpl-up-2"],
    ["responses", RESPONSES_EVENTS, "resp_1"],
    ["messages", MESSAGES_EVENTS, "msg_1"],
  ])("finds the cost at the end of a %s stream", (_, events, responseId) => {
    const { usage, ...rest } = read([encode(events)]);
    expect(rest).toEqual({ ended: true, failed: false, responseId });
    expect(usage?.cost).toBe(0.000017);
  });

  it("knows a stream that failed, and one without its end mark", () => {
    expect(read([encode(ERROR_EVENTS)])).toMatchObject({ ended: false, failed: true });
    expect(read([encode(CHAT_EVENTS.slice(0, -1))])).toMatchObject({ ended: false, failed: false });
  });

  it("is the same however the bytes are cut, with either line end", () => {
    const streams = [CHAT_EVENTS, RESPONSES_EVENTS, MESSAGES_EVENTS, ERROR_EVENTS];
    fc.assert(
      fc.property(
        fc.constantFrom(...streams),
        fc.boolean(),
        fc.array(fc.integer({ min: 1, max: 60 }), { minLength: 1, maxLength: 40 }),
        (events, isCrlf, sizes) => {
          const text = events.join("");
          const bytes = new TextEncoder().encode(isCrlf ? text.replaceAll("\n", "\r\n") : text);
          const chunks: Uint8Array[] = [];
          for (let at = 0, turn = 0; at < bytes.length; turn++) {
            const size = sizes[turn % sizes.length] ?? 1;
            chunks.push(bytes.slice(at, at + size));
            at += size;
          }
          expect(read(chunks)).toEqual(read([encode(events)]));
        },
      ),
      { numRuns: 60 },
    );
  });

  it("leaves the chunks as they are", () => {
    const chunk = encode(CHAT_EVENTS);
    const before = chunk.slice();
    read([chunk.subarray(0, 50), chunk.subarray(50)]);
    expect(chunk).toEqual(before);
  });

  it("goes on behind what is no JSON", () => {
    expect(
      read([encode(["data: {nonsense\n\n", ": comment\n\n", "data:\n\n", ...CHAT_EVENTS])]),
    ).toMatchObject({
      ended: true,
    });
  });
});
