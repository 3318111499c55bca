import { describe, expect, it } from "vitest";
import { ensureLitellm } from "../../scripts/ensure-litellm.mjs";
import { SEED, trialsOr } from "../server/rig/trials.js";
import { killBilling } from "./rig/kill-program.js";

const missing = await ensureLitellm();
if (missing !== undefined && process.env.CI === "true") throw new Error(missing);
if (missing !== undefined) console.warn(`Skipped: ${missing}`);

describe.skipIf(missing !== undefined)("billing, killed", () => {
  it("ends with what LiteLLM recorded and the upstream counted, each call once, and every doubt listed", async () => {
    const runs = trialsOr(60);
    const said = await killBilling({
      runs,
      serviceKills: Math.ceil(runs / 6),
      litellmKills: Math.ceil(runs / 12),
      seed: SEED,
    });
    console.log(said);
    expect(said).toContain(`${runs} runs`);
  }, 3_600_000);
});
