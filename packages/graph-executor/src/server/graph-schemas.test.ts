import type { GraphSchema } from "@langchain/langgraph-sdk";
import { describe, expect, it } from "vitest";
import { hidesOutput, inputSchemaOf, outputSchemaOf, type ServerSchemas } from "./graph-schemas.js";

type Schema = NonNullable<GraphSchema["output_schema"]>;

const keys = (...names: readonly string[]) => Object.fromEntries(names.map((name) => [name, {}]));

/** As `langgraph dev` answers, without what it says of the keys. */
function known(schemas: Omit<GraphSchema, "graph_id">, isFunctional = false): ServerSchemas {
  return { isFunctional, schema: { graph_id: "any", ...schemas } };
}
const ofStateSchema = (...names: readonly string[]): Schema => ({
  type: "object",
  properties: keys(...names),
});
const ofZod = (...names: readonly string[]): Schema => ({
  $schema: "https://json-schema.org/draft/2020-12/schema",
  ...ofStateSchema(...names),
});
const ofPydantic = (...names: readonly string[]): Schema => ({ title: "State", ...ofStateSchema(...names) });

describe("What is output of a server's graph", () => {
  it("is what its schema names", () => {
    for (const schema of [ofZod("messages", "mood"), ofPydantic("messages", "mood")]) {
      const output = outputSchemaOf(known({ output_schema: schema, state_schema: schema }), undefined);
      expect(output).toEqual(schema);
    }
  });

  it("is also what a StateSchema can't describe, but for LangChain's private keys", () => {
    const agent = known({
      input_schema: ofStateSchema("messages"),
      output_schema: ofStateSchema("messages"),
      state_schema: ofStateSchema("messages", "_summarizationSessionId"),
    });
    const open = { additionalProperties: true, patternProperties: { "^(_|jumpTo$)": false } };
    expect(outputSchemaOf(agent, undefined)).toMatchObject({ properties: keys("messages"), ...open });
    expect(inputSchemaOf(agent)).toMatchObject({ properties: keys("messages"), ...open });
  });

  it("is only what a StateSchema's output names, where the state names more", () => {
    const schemas = {
      output_schema: ofStateSchema("messages", "verdict"),
      state_schema: ofStateSchema("messages", "verdict", "draft"),
    };
    expect(outputSchemaOf(known(schemas), undefined)).toEqual(schemas.output_schema);
  });

  it("is whatever a function returns", () => {
    expect(outputSchemaOf(known({ state_schema: ofZod("topic") }, true), undefined)).toEqual({
      type: "object",
    });
  });

  it.each([
    ["whose types the server can't read", known({ state_schema: ofZod("messages") })],
    ["whose schema is empty", known({ output_schema: { type: "object" } })],
    ["whose schema did not come", undefined],
  ])("is no more than the messages of a graph %s, unless its keys are declared", (_, schemas) => {
    expect(outputSchemaOf(schemas, undefined)).toEqual({ type: "object", properties: keys("messages") });
    expect(hidesOutput(schemas, undefined)).toBe(true);
    const declared = outputSchemaOf(schemas, ["messages", "verdict"]);
    expect(declared).toMatchObject({ properties: keys("messages", "verdict") });
    expect(hidesOutput(schemas, ["messages", "verdict"])).toBe(false);
  });
});
