import { createSimulatedClock, ThroughlineError } from "@throughline/ai-core";
import { describe, expect, it } from "vitest";
import { createModelList, readModels, requireAllowedModel } from "./models.js";

const GROUP = {
  model_group: "cheap",
  providers: ["openai"],
  max_input_tokens: null,
  max_output_tokens: 4096,
  input_cost_per_token: 1e-6,
  output_cost_per_token: 2e-6,
  supports_vision: true,
  supports_function_calling: false,
  api_base: "http://inner.example/v1",
};

describe("reading models", () => {
  it("takes what people may see, and no address", () => {
    const [model] = readModels({ data: [GROUP] });
    expect(model).toEqual({
      id: "cheap",
      inputPrice: 1_000_000n,
      outputPrice: 2_000_000n,
      maxInputTokens: null,
      maxOutputTokens: 4096,
      takesImages: true,
      callsTools: false,
      reasons: false,
    });
  });

  it("tells an unpriced model from a free one", () => {
    const models = readModels({
      data: [
        { model_group: "unpriced", input_cost_per_token: null, output_cost_per_token: null },
        { model_group: "free", input_cost_per_token: 0, output_cost_per_token: 0 },
        { model_group: "silent" },
      ],
    });
    expect(models.map(({ inputPrice }) => inputPrice)).toEqual([null, 0n, null]);
  });

  it("leaves out what it can't read, and takes odd fields for unknown", () => {
    const models = readModels({
      data: [{}, "x", { ...GROUP, max_output_tokens: "many", supports_vision: 7 }],
    });
    expect(models).toMatchObject([{ id: "cheap", maxOutputTokens: null, takesImages: false }]);
    expect(() => readModels({ error: "…" })).toThrow();
  });
});

describe("the model list", () => {
  function scene() {
    const clock = createSimulatedClock(1_000_000);
    const asked: string[] = [];
    const state = { isDown: false, isRefused: false, models: [GROUP] };
    const list = createModelList({
      clock,
      admin: {
        async read(path, _, key) {
          asked.push(`${path} ${key}`);
          if (state.isRefused) throw new ThroughlineError("unauthorized", "no such key");
          if (state.isDown) throw new ThroughlineError("upstream_unavailable", "away");
          return { data: state.models };
        },
      },
    });
    return { clock, asked, state, list };
  }

  it("is asked for once a minute, by all who ask together, and per key", async () => {
    const { clock, asked, list } = scene();
    await Promise.all([list.of("sk-a"), list.of("sk-a"), list.of("sk-b")]);
    expect(asked).toEqual(["/model_group/info sk-a", "/model_group/info sk-b"]);
    clock.advance(59_999);
    await list.of("sk-a");
    expect(asked).toHaveLength(2);
    clock.advance(1);
    expect((await list.of("sk-a")).isStale).toBe(false);
    expect(asked).toHaveLength(3);
  });

  it("is marked stale while LiteLLM is away, for ten minutes, and then denies", async () => {
    const { clock, asked, state, list } = scene();
    await list.of("sk-a");
    state.isDown = true;
    clock.advance(60_000);
    expect(await list.of("sk-a")).toMatchObject({ isStale: true, models: [{ id: "cheap" }] });
    await list.of("sk-a");
    // An outage is not made worse by asking at every call.
    expect(asked).toHaveLength(2);
    clock.advance(540_000);
    expect((await list.of("sk-a")).isStale).toBe(true);
    clock.advance(1);
    await expect(list.of("sk-a")).rejects.toMatchObject({ code: "models_unavailable" });
    state.isDown = false;
    clock.advance(5_000);
    expect((await list.of("sk-a")).isStale).toBe(false);
  });

  it("is gone at once when LiteLLM refuses the key, which is no outage", async () => {
    const { clock, state, list } = scene();
    await list.of("sk-a");
    state.isRefused = true;
    list.expire("sk-a");
    await expect(list.of("sk-a")).rejects.toMatchObject({ code: "unauthorized" });
    state.isRefused = false;
    clock.advance(5_000);
    expect((await list.of("sk-a")).models).toHaveLength(1);
  });

  it("denies when it was never loaded", async () => {
    const { state, list } = scene();
    state.isDown = true;
    await expect(list.of("sk-a")).rejects.toMatchObject({ code: "models_unavailable" });
  });

  it("is asked again at once when it turned out to be wrong", async () => {
    const { state, list } = scene();
    await list.of("sk-a");
    state.models = [{ ...GROUP, model_group: "other" }];
    list.expire("sk-a");
    expect((await list.of("sk-a")).models).toMatchObject([{ id: "other" }]);
  });
});

describe("an allowed model", () => {
  const models = readModels({ data: [GROUP, { ...GROUP, model_group: "dear" }] });

  it("is one that the list names, exactly", () => {
    expect(() => requireAllowedModel(models, "cheap")).not.toThrow();
    for (const model of ["Cheap", "cheap ", "openai/up-cheap", ""]) {
      expect(() => requireAllowedModel(models, model)).toThrow(
        `Unknown model "${model}". Available: cheap, dear.`,
      );
    }
  });

  it("has a name", () => {
    expect(() => requireAllowedModel(models, null)).toThrow("names no model");
    expect(() => requireAllowedModel([], "cheap")).toThrow("None is available");
  });
});
