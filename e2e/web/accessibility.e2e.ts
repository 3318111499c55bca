import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { hasChromium } from "../browser/chromium.js";
import { graveFaults } from "./rig/grave-faults.js";
import { SCENES } from "./rig/scenes.js";
import { showScene } from "./rig/show-scene.js";
import { type Stage, startStage } from "./rig/start-stage.js";
import { fillAccount } from "./rig/world.js";

const ACCOUNT = "everything";
const PHONE = { width: 360, height: 740 };

let stage: Stage;

describe.runIf(hasChromium())(
  "No page and no state of one has a serious fault for whoever needs help to use it",
  () => {
    beforeAll(async () => {
      stage = await startStage({
        graphs: new URL("./rig/stage-graphs.ts", import.meta.url),
        env: { THROUGHLINE_OFFLINE_PACE_MS: "0" },
      });
      await fillAccount(stage, ACCOUNT);
    });
    afterEach((test) => stage?.clear(test));
    afterAll(() => stage?.stop());

    describe.each(["light", "dark"] as const)("in %s", (colorScheme) => {
      it.each(SCENES)("$name", async (scene) => {
        const page = await showScene(stage, scene, { account: ACCOUNT, colorScheme });
        expect(await graveFaults(page)).toEqual([]);
      });
    });

    it.each(SCENES)("on a phone, where it also fits its width: $name", async (scene) => {
      const page = await showScene(stage, scene, { account: ACCOUNT, viewport: PHONE });
      expect(await graveFaults(page)).toEqual([]);
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(
        PHONE.width,
      );
    });
  },
);
