import { z } from "zod";
import { ENVELOPE_TYPES, type EnvelopeType } from "./envelope-types.js";
import { PAYLOADS } from "./payloads.js";

export const envelopeBaseSchema = z.object({
  /** Seconds since the Unix epoch, with fractions. For people: order comes from the log alone. */
  ts: z.number(),
  trace_id: z.string().min(1),
  run_id: z.string().min(1),
  thread_id: z.string().min(1),
  attempt: z.number().int().nonnegative(),
  parent_id: z.string().nullable(),
  /** R7: derived, never random, so that a retry or a replay of the same call has the same id. */
  call_id: z.string().min(1),
  /** Counts up from 1 within a `call_id`. */
  seq: z.number().int().positive(),
  origin: z.enum(["live", "replay"]),
  agent: z.string(),
  /** How many entries of the log this one stands for, since compaction merged them. Absent: it is as it was written. */
  merged: z.number().int().min(2).optional(),
});

export type EnvelopeBase = z.infer<typeof envelopeBaseSchema>;
export type PayloadOf<T extends EnvelopeType> = z.infer<(typeof PAYLOADS)[T]>;
export type EnvelopeOf<T extends EnvelopeType> = EnvelopeBase & {
  readonly type: T;
  readonly payload: PayloadOf<T>;
};

/** The log's entry: everything a person sees is a reading of these. */
export type Envelope = { [T in EnvelopeType]: EnvelopeOf<T> }[EnvelopeType];

const [firstType, ...otherTypes] = ENVELOPE_TYPES.map((type) =>
  envelopeBaseSchema.extend({ type: z.literal(type), payload: PAYLOADS[type] }),
);
if (!firstType) throw new Error("PAYLOADS is empty");

// A mapped list loses the pairing of type and payload, which `Envelope` states; the round-trip test holds the two together.
export const envelopeSchema = z.discriminatedUnion("type", [
  firstType,
  ...otherTypes,
]) as unknown as z.ZodType<Envelope>;

/** The envelope's JSON Schema, kept in `docs/` for readers in other languages. */
export function renderEnvelopeJsonSchema(): string {
  const document = z.toJSONSchema(envelopeSchema, {
    target: "draft-2020-12",
    unrepresentable: "any",
    reused: "ref",
  });
  return `${JSON.stringify({ title: "Throughline envelope", ...document }, null, 2)}\n`;
}
