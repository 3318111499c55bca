import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, afterEach, beforeAll, describe, it } from "vitest";
import { SCENES } from "../rig/scenes.js";
import { showScene } from "../rig/show-scene.js";
import { type Stage, startStage } from "../rig/start-stage.js";
import { fillAccount } from "../rig/world.js";
import { indexPage } from "./index-page.js";

const FOLDER = fileURLToPath(new URL("../../../.throughline/shots/", import.meta.url));
const ACCOUNT = "harbour";
const SCREENS = { desktop: { width: 1280, height: 800 }, phone: { width: 360, height: 740 } } as const;

const asked = process.env.SHOTS_NAMED ?? "";
let stage: Stage;

describe("shots", () => {
  beforeAll(async () => {
    mkdirSync(FOLDER, { recursive: true });
    stage = await startStage({
      graphs: new URL("../rig/stage-graphs.ts", import.meta.url),
      env: { THROUGHLINE_OFFLINE_PACE_MS: "0" },
    });
    await fillAccount(stage, ACCOUNT);
  });
  afterEach((test) => stage?.clear(test));
  afterAll(async () => {
    const names = readdirSync(FOLDER).filter((file) => file.endsWith(".png"));
    writeFileSync(join(FOLDER, "index.html"), indexPage(names));
    await stage?.stop();
  });

  for (const [screen, viewport] of Object.entries(SCREENS)) {
    for (const colorScheme of ["light", "dark"] as const) {
      for (const scene of SCENES) {
        const file = `${scene.name}.${screen}.${colorScheme}.png`;
        if (!file.includes(asked)) continue;
        it(file, async () => {
          const page = await showScene(stage, scene, { account: ACCOUNT, colorScheme, viewport });
          await page.screenshot({ path: join(FOLDER, file), animations: "disabled", caret: "hide" });
        });
      }
    }
  }
});
