import { expect, it } from "vitest";
import { drive, piece } from "../testing/drive.js";

it("a piece of text says how probable it was, where the model does", () => {
  const logprobs = {
    content: [
      { token: "Hel", logprob: -0.5 },
      { token: "lo", logprob: -0.25 },
    ],
  };
  const envelopes = drive([
    piece({ content: "Hello", response_metadata: { logprobs } }),
    piece({ content: " you", response_metadata: {} }),
  ]);
  const tokens = envelopes.flatMap(({ type, payload }) => (type === "llm_token" ? [payload] : []));
  expect(tokens).toEqual([
    { message_id: "m1", text: "Hello", logprob: -0.75 },
    { message_id: "m1", text: " you" },
  ]);
});
