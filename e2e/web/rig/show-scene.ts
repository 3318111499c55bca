import type { Page } from "playwright-core";
import type { Scene } from "./scenes.js";
import type { Stage } from "./start-stage.js";
import { untilLoaded } from "./until-loaded.js";
import type { VisitorOptions } from "./visitor.js";

/** Opens a scene in a browser profile of its own, as it looks once everything is there. */
export async function showScene(
  stage: Stage,
  scene: Scene,
  { account, ...look }: VisitorOptions & { readonly account: string },
): Promise<Page> {
  const visitor = await stage.visitor({
    ...look,
    ...(scene.visitor !== "fresh" && { account }),
    isStranger: scene.visitor === "stranger",
  });
  const page = await visitor.open(scene.path);
  await untilLoaded(page);
  await scene.act?.(page);
  await untilLoaded(page);
  await page.waitForFunction(noScriptCame, { for: 400 }, { polling: 100 });
  await page.evaluate(() => document.fonts.ready.then(() => undefined));
  return page;
}

/** In the page. Parts that a page needs late are scripts of their own: a picture waits until the last one came. */
function noScriptCame({ for: ms }: { readonly for: number }): boolean {
  const scripts = performance.getEntriesByType("resource").filter(({ name }) => name.endsWith(".js"));
  return performance.now() - Math.max(0, ...scripts.map((entry) => entry.startTime + entry.duration)) > ms;
}
