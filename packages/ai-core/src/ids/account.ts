import { z } from "zod";

/** No `:` can enter, so an account never runs into what follows it in a derivation. */
export const accountIdSchema = z
  .string()
  .regex(/^[A-Za-z0-9_-]{1,128}$/, "An account's name must be 1–128 characters of A–Z, a–z, 0–9, _ and -");

/** `isPrintable` for JSON Schema, as far as every language's patterns go: half a surrogate pair is in none. */
export const PRINTABLE_PATTERN = "^[^\\u0000-\\u001f\\u007f-\\u009f]*$";

const MAX_SUBJECT_LENGTH = 256;

/**
 * Identity providers put almost anything here (`auth0|…`, e-mail addresses), so only what would break a key is refused.
 * Canonically equal spellings are one person, so it is normalised here, before anything is keyed by it.
 */
export const subjectSchema = z
  .string()
  .refine(isPrintable, "A subject must be well-formed text without control characters")
  .transform((subject) => subject.normalize("NFC"))
  .refine(
    ({ length }) => length >= 1 && length <= MAX_SUBJECT_LENGTH,
    `A subject must be 1–${MAX_SUBJECT_LENGTH} characters long`,
  )
  // JSON Schema sees no refinement.
  .meta({ type: "string", minLength: 1, maxLength: MAX_SUBJECT_LENGTH, pattern: PRINTABLE_PATTERN });

/** Lone surrogates encode to the same UTF-8 bytes as one another, which would let two names share a thread. */
export function isPrintable(text: string): boolean {
  return !/[\p{Cc}\p{Cs}]/u.test(text);
}
