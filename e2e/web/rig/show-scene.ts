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
  await page.evaluate(() => document.fonts.ready.then(() => undefined));
  return page;
}
