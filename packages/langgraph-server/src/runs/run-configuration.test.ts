import { type GraphDescriptor, ThroughlineError } from "@throughline/ai-core";
import { describe, expect, it } from "vitest";
import { requireAcceptedConfig, selectModel } from "./run-configuration.js";

function agent(properties: object | undefined, model?: string): GraphDescriptor {
  return {
    graphId: "langgraph:a",
    graphName: "a",
    name: "a",
    description: "",
    capabilities: [],
    commands: [],
    inputSchema: {},
    outputSchema: {},
    ...(properties && { contextSchema: JSON.parse(JSON.stringify({ type: "object", properties })) }),
    ...(model !== undefined && { model }),
  };
}

/** An account whose key allows every model but "forbidden", and whose default is "account". */
const billing = {
  defaultModelOf: async () => "account",
  async requireStart(_caller: unknown, model: string | undefined) {
    if (model === "forbidden") throw new ThroughlineError("model_not_allowed", "no");
    return model;
  },
};
const caller = { billingAccountId: "acme", virtualKeyId: "k", traceId: "t" };
const accepting = { model: { type: "string" } };

describe("The model of a run", () => {
  it.each([
    ["the run's own choice", { model: "run", priorModel: "prior" }, "thread", "agent", "run"],
    ["the thread's", { priorModel: "prior" }, "thread", "agent", "thread"],
    ["that of the run it repeats", { priorModel: "prior" }, undefined, "agent", "prior"],
    ["the next, where the thread's is no longer allowed", {}, "forbidden", "agent", "agent"],
    ["the agent's", {}, undefined, "agent", "agent"],
    ["the account's", {}, undefined, undefined, "account"],
  ])("is %s", async (_, request, remembered, ofAgent, expected) => {
    const graph = agent(accepting, ofAgent);
    expect(await selectModel(billing, graph, { caller, ...request }, remembered)).toBe(expected);
  });

  it("is the graph's own where its context schema declares none, whatever is configured", async () => {
    const request = { caller, priorModel: "prior" };
    expect(await selectModel(billing, agent({ tone: {} }, "agent"), request, "thread")).toBeUndefined();
  });

  it("is never the account's where the schema is not known", async () => {
    expect(await selectModel(billing, agent(undefined), { caller }, undefined)).toBeUndefined();
    expect(await selectModel(billing, agent(undefined), { caller, model: "run" }, undefined)).toBe("run");
  });

  it("is refused by name where the graph accepts none, or the key does not allow it", async () => {
    const chosen = (model: string, properties: object) =>
      selectModel(billing, agent(properties), { caller, model }, undefined);
    await expect(chosen("run", {})).rejects.toMatchObject({
      code: "invalid_input",
      details: { field: "model" },
    });
    await expect(chosen("forbidden", accepting)).rejects.toMatchObject({ code: "model_not_allowed" });
  });
});

describe("The configuration of a run", () => {
  const graph = agent({ tone: { type: "string", enum: ["dry", "warm"] }, model: {}, any: {} });

  it("is what the context schema declares", () => {
    expect(() => requireAcceptedConfig(graph, undefined)).not.toThrow();
    expect(() =>
      requireAcceptedConfig(graph, { configurable: { tone: "dry", any: [1] }, tags: ["a"] }),
    ).not.toThrow();
    expect(() => requireAcceptedConfig(agent(undefined), { configurable: { colour: "red" } })).not.toThrow();
  });

  it.each([
    ["colour", "red", 'the graph "a" declares no such key. It declares: tone, any.'],
    ["tone", "loud", "config.configurable.tone: "],
    ["thread_id", "t", "is set by the service"],
    ["__pregel_resuming", true, "is set by the service"],
    ["model", "m", "name the model as `model`"],
  ])("is refused by name for %s", (key, value, sentence) => {
    expect(() => requireAcceptedConfig(graph, { configurable: { [key]: value } })).toThrow(sentence);
  });
});
