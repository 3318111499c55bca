import { describe, expect, it } from "vitest";
import { createNewestValues } from "./graph-values.js";

const valuesOf = (data: unknown, ns: readonly string[] = []) => ({ ns, mode: "values", data });

describe("The newest values of a server's run", () => {
  it("have what its state lacks, without messages", () => {
    const values = createNewestValues();
    values.read(valuesOf({ messages: [], kept: 1 }));
    values.read(valuesOf({ messages: [], kept: 2, scratch: "s" }));
    values.read(valuesOf({ below: true }, ["agent:1"]));
    values.read({ ns: [], mode: "updates", data: { node: { other: 1 } } });
    expect(values.missingIn({ kept: 2 })).toEqual({ scratch: "s" });
  });

  it("have nothing of a superstep before, and outlast an interrupt", () => {
    const values = createNewestValues();
    values.read(valuesOf({ early: 1 }));
    values.read(valuesOf({ late: 1 }));
    values.read(valuesOf({ __interrupt__: [] }));
    expect(values.missingIn({})).toEqual({ late: 1 });
  });
});
