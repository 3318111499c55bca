import { describe, expect, it } from "vitest";
import { readGraphql } from "./litellm/query-engine/read-graphql.mjs";
import { createTranslator } from "./litellm/query-engine/translate-query.mjs";

describe("a query of Prisma's Python client", () => {
  it("is read with its arguments and its selection", () => {
    const query = `query {
      result: findManyKeys
      (
        take: 10, skip: -1,
        where: { spend: { gt: 1.5e-05 }, "name": { in: ["a \\"b\\" {", null, true] } }
        orderBy: [{ id: asc }]
      )
      { id owner(where: { id: 1 }) { name } }
    }`;
    expect(readGraphql(query)).toEqual({
      operation: "findManyKeys",
      arguments: {
        take: 10,
        skip: -1,
        where: { spend: { gt: 0.000015 }, name: { in: ['a "b" {', null, true] } },
        orderBy: [{ id: "asc" }],
      },
      selection: { id: true, owner: { arguments: { where: { id: 1 } }, selection: { name: true } } },
    });
  });

  it("that ends too early or is something else is an error", () => {
    expect(() => readGraphql("query { result: findManyKeys(take: ")).toThrow("Expected");
    expect(() => readGraphql("query { other: findManyKeys { id } }")).toThrow("Expected result");
  });
});

describe("translation for the engine", () => {
  const { toEngine, fromEngine } = createTranslator(
    "model Log {\n  id String @id\n  about Json?\n}\nmodel SpendLog {\n  id String @id\n}\n",
  );

  it("names model and action, and marks columns of JSON", () => {
    const data = 'data: { id: "1", about: "{\\"a\\":1}" }';
    expect(toEngine(`mutation { result: createOneLog(${data}) { id } }`)).toEqual({
      modelName: "Log",
      action: "createOne",
      query: {
        arguments: { data: { id: "1", about: { $type: "Json", value: '{"a":1}' } } },
        selection: { id: true },
      },
    });
    expect(toEngine("query { result: findFirstSpendLogOrThrow { id } }")).toMatchObject({
      modelName: "SpendLog",
      action: "findFirstOrThrow",
    });
    expect(() => toEngine("query { result: findManyElse { id } }")).toThrow("Unknown model in findManyElse.");
  });

  it("gives plain values back, and JSON of raw rows as values", () => {
    const tagged = {
      id: "1",
      total: { $type: "BigInt", value: "7" },
      at: { $type: "DateTime", value: "now" },
    };
    expect(fromEngine({ data: { findFirstLog: tagged } })).toEqual({
      data: { result: { id: "1", total: 7, at: "now" } },
    });
    const raw = { columns: ["about"], types: ["json"], rows: [['{"a":1}'], [null]] };
    expect(fromEngine({ data: { queryRaw: raw } })).toEqual({
      data: { result: { ...raw, rows: [[{ a: 1 }], [null]] } },
    });
    expect(fromEngine({})).toEqual({});
  });
});
