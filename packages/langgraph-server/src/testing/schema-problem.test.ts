import type { Json } from "@throughline/ai-core";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { openApiDocument } from "../http/routes/openapi.js";
import { schemaBook } from "../http/routes/openapi-schemas.js";
import { fittingValue, misfittingValue } from "./fitting-value.js";
import { schemaProblem } from "./schema-problem.js";

const zodSchema = z.strictObject({
  name: z.string().min(1).max(8),
  kind: z.enum(["a", "b"]),
  count: z.number().int().min(0).max(10),
  limit: z.number().nullable().optional(),
  parts: z
    .array(
      z.discriminatedUnion("type", [
        z.object({ type: z.literal("text"), text: z.string() }),
        z.object({ type: z.literal("flag"), on: z.boolean() }),
      ]),
    )
    .optional(),
  tag: z
    .string()
    .regex(/^[a-z]{1,3}$/)
    .optional(),
  words: z.record(z.string(), z.number()).optional(),
});
const schema = schemaBook("input", {}, [zodSchema]).schemaOf(zodSchema);
const source = { document: openApiDocument([], "0"), words: {} };

describe("What is said of a value by the document", () => {
  it("is what zod says of it, of values that fit and of values that do not", () => {
    const mixed = fc.oneof(fittingValue(source, schema), misfittingValue(source, schema));
    fc.assert(
      fc.property(mixed, (value) => {
        expect(schemaProblem(source, schema, value) === undefined).toBe(zodSchema.safeParse(value).success);
      }),
      { numRuns: 500 },
    );
  });

  it("names the place and what is wrong there", () => {
    const value = { name: "n", kind: "a", count: 1, parts: [{ type: "flag", on: "yes" }] };
    expect(schemaProblem(source, schema, value)).toContain("$.parts[0].on is no boolean");
  });

  it("counts what is documented nowhere where an answer is judged", () => {
    const open = { type: "object", properties: { a: { type: "number" } } };
    const value: Json = { a: 1, secret: 2 };
    expect(schemaProblem(source, open, value)).toBeUndefined();
    expect(schemaProblem({ ...source, closed: true }, open, value)).toBe("$.secret is documented nowhere");
  });

  it("refuses to judge by a word it does not know", () => {
    expect(() => schemaProblem(source, { multipleOf: 2 }, 3)).toThrow("multipleOf");
  });
});
