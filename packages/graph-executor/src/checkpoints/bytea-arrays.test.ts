import fc from "fast-check";
import pg from "pg";
import { describe, expect, it } from "vitest";
import { parseByteaArray } from "./fenced-postgres-saver.js";

const byteaArray: number = 1001;
const pgsOwn = pg.types.getTypeParser(byteaArray, "text");

const bytes = fc.option(fc.uint8Array({ maxLength: 40 }));
const written = (items: readonly (Uint8Array | null)[]) =>
  `{${items.map((item) => (item === null ? "NULL" : `"\\\\x${Buffer.from(item).toString("hex")}"`)).join(",")}}`;

describe("An array of bytes as PostgreSQL writes it", () => {
  it("reads as pg reads it, rows in rows too", () => {
    fc.assert(
      fc.property(fc.array(fc.array(bytes, { minLength: 1 })), (rows) => {
        const text = `{${rows.map(written).join(",")}}`;
        expect(parseByteaArray(text)).toEqual(pgsOwn(text));
      }),
    );
  });

  it("in the other form of output, or with bounds of its own, is left to pg", () => {
    for (const text of ["{a,b}", '{"a\\\\000b"}', '[2:3]={"\\\\x61","\\\\x62"}', '{"\\\\x61",b}']) {
      expect(parseByteaArray(text)).toEqual(pgsOwn(text));
    }
  });
});
