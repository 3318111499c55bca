import { ThroughlineError } from "@throughline/ai-core";
import type { ModelListing } from "@throughline/billing";
import { expect, it, onTestFinished } from "vitest";
import { devCaller } from "../../accounts/callers.js";
import { createHandler } from "../../server/create-handler.js";
import { openServiceScene } from "../../testing/service-scene.js";

/** What `GET /models` answers where billing gives this. */
async function modelsOf(listing?: () => Promise<ModelListing>): Promise<Response> {
  const { service, close } = await openServiceScene();
  onTestFinished(close);
  const billing = { ...service.billing, ...(listing && { modelsOf: listing }) };
  const handler = createHandler({ service: { ...service, billing }, caller: devCaller() });
  onTestFinished(() => handler.close());
  return handler.fetch(new Request("http://localhost/models"));
}

const dear = {
  id: "dear",
  inputPrice: 150_000n,
  outputPrice: null,
  maxInputTokens: 128_000,
  maxOutputTokens: null,
  takesImages: true,
  callsTools: true,
  reasons: false,
};

it("Models are listed with exact prices, and where they are served is not told", async () => {
  const withAddress = { ...dear, apiBase: "http://10.0.0.1", api_base: "http://10.0.0.1" };
  const answer = await modelsOf(async () => ({ models: [withAddress], loadedAt: 0, isStale: true }));
  expect(await answer.json()).toEqual({
    models: [{ ...dear, inputPrice: "0.00000015" }],
    loadedAt: "1970-01-01T00:00:00.000Z",
    stale: true,
  });
});

it("Without LiteLLM the offline model is the list", async () => {
  expect(await (await modelsOf()).json()).toMatchObject({ models: [{ inputPrice: "0" }], stale: false });
});

it("While LiteLLM is away and no list is known, models are unavailable and it is said when to ask again", async () => {
  const away = new ThroughlineError("models_unavailable", "Away.", { details: { retryAfterMs: 5_000 } });
  const answer = await modelsOf(() => Promise.reject(away));
  expect([answer.status, answer.headers.get("retry-after")]).toEqual([503, "5"]);
});
