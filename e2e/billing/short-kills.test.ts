import { describe, expect, it } from "vitest";
import { ensureLitellm } from "../../scripts/ensure-litellm.mjs";
import { killBilling } from "./rig/kill-program.js";

const missing = await ensureLitellm();
if (missing !== undefined && process.env.CI === "true") throw new Error(missing);
if (missing !== undefined) console.warn(`Skipped: ${missing}`);

describe.skipIf(missing !== undefined)("billing", () => {
  it("agrees with LiteLLM and its upstream after one kill of an instance and one of LiteLLM", async () => {
    const seed = Number(process.env.THROUGHLINE_SEED ?? 1) >>> 0;
    expect(await killBilling({ runs: 10, serviceKills: 1, litellmKills: 1, seed })).toContain("10 runs");
  }, 240_000);
});
