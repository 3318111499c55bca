import type { Json, JsonObject } from "@throughline/ai-core";
import fc from "fast-check";

interface CallPlan {
  readonly args: JsonObject;
  readonly result: string | JsonObject[];
  readonly fails: boolean;
}

export interface MessagePlan {
  readonly reasoning: readonly string[];
  /** Pieces of text, and blocks with bytes between them. */
  readonly text: readonly (string | JsonObject)[];
  readonly calls: readonly CallPlan[];
  readonly usageInOwnChunk: boolean;
}

export type NodePlan =
  | { readonly kind: "model"; readonly messages: readonly MessagePlan[] }
  | { readonly kind: "authored"; readonly text: string }
  | { readonly kind: "writer"; readonly key: string; readonly value: Json }
  | { readonly kind: "subgraph"; readonly steps: readonly StepPlan[] }
  | { readonly kind: "delegates"; readonly steps: readonly StepPlan[] }
  | { readonly kind: "asks"; readonly value: Json };

export type StepPlan = readonly NodePlan[];

/** What happens in a made-up run, and how it ends. */
export interface RunPlan {
  readonly steps: readonly StepPlan[];
  readonly ending: "success" | "cancelled" | "error";
  /** Where a run that does not end well breaks off, as a share of its chunks. */
  readonly cutAt: number;
  /** Decides how parallel nodes interleave and how fast chunks come. */
  readonly dice: readonly number[];
}

const word = fc.constantFrom("Hello", " world", " ", "\n", "é", "😀", '"quoted"', "{", "tok ", "");
const json: fc.Arbitrary<Json> = fc.oneof(
  fc.constant(null),
  fc.boolean(),
  fc.integer({ min: -5, max: 5 }),
  word,
  fc.array(fc.integer({ min: 0, max: 9 }), { maxLength: 4 }),
  fc.dictionary(fc.constantFrom("a", "b/c", "d~e"), fc.integer({ min: 0, max: 9 }), {
    maxKeys: 3,
    noNullPrototype: true,
  }),
);
/** Media in some of its spellings, with bytes that no log may hold. */
const picture: fc.Arbitrary<JsonObject> = fc
  .record({
    data: fc.constantFrom("A", "Qk", "+/9z").map((some) => some.repeat(600 / some.length)),
    spelling: fc.constantFrom<((data: string) => JsonObject)[]>(
      (data) => ({ type: "image", data, mimeType: "image/png" }),
      (data) => ({ type: "image_url", image_url: { url: `data:image/jpeg;base64,${data}` } }),
      (data) => ({ type: "image", source: { type: "base64", media_type: "image/png", data } }),
      (data) => ({ inlineData: { mimeType: "audio/wav", data } }),
      (data) => ({
        type: "file",
        source_type: "base64",
        mime_type: "text/csv",
        data,
        metadata: { filename: "a[1].csv" },
      }),
    ),
  })
  .map(({ data, spelling }) => spelling(data));
const callPlan: fc.Arbitrary<CallPlan> = fc.record({
  args: fc.dictionary(fc.constantFrom("x", "y"), fc.oneof(word, fc.integer({ min: 0, max: 99 })), {
    maxKeys: 2,
    noNullPrototype: true,
  }),
  result: fc.oneof(
    { weight: 4, arbitrary: fc.constantFrom("done", "", "line\nbreak", '{"n":1}') },
    picture.map((block) => [{ type: "text", text: "Seen: " }, block]),
  ),
  fails: fc.boolean(),
});
const messagePlan: fc.Arbitrary<MessagePlan> = fc.record({
  reasoning: fc.array(word, { maxLength: 3 }),
  text: fc.array(fc.oneof({ weight: 6, arbitrary: word }, picture), { maxLength: 6 }),
  calls: fc.array(callPlan, { maxLength: 3 }),
  usageInOwnChunk: fc.boolean(),
});
const { step: stepPlan } = fc.letrec<{ node: NodePlan; step: StepPlan }>((tie) => ({
  node: fc.oneof(
    { maxDepth: 2 },
    fc.record({
      kind: fc.constant("model" as const),
      messages: fc.array(messagePlan, { minLength: 1, maxLength: 2 }),
    }),
    fc.record({ kind: fc.constant("authored" as const), text: word }),
    fc.record({
      kind: fc.constant("writer" as const),
      key: fc.constantFrom("plan", "files", "n"),
      value: json,
    }),
    fc.record({
      kind: fc.constant("subgraph" as const),
      steps: fc.array(tie("step"), { minLength: 1, maxLength: 2 }),
    }),
    fc.record({
      kind: fc.constant("delegates" as const),
      steps: fc.array(tie("step"), { minLength: 1, maxLength: 2 }),
    }),
    fc.record({ kind: fc.constant("asks" as const), value: json }),
  ),
  step: fc.array(tie("node"), { minLength: 1, maxLength: 3 }),
}));

export const runPlan: fc.Arbitrary<RunPlan> = fc.record({
  steps: fc.array(stepPlan, { minLength: 1, maxLength: 3 }),
  ending: fc.constantFrom("success", "success", "cancelled", "error"),
  cutAt: fc.double({ min: 0, max: 1, noNaN: true }),
  dice: fc.array(fc.nat(1_000), { minLength: 8, maxLength: 24 }),
});
