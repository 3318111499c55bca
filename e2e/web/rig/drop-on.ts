import type { Locator } from "playwright-core";

/** A file is dragged over the element and let go there, as the machine itself tells the browser of it. */
export async function dropOn(
  element: Locator,
  path: string,
  whileOver: () => Promise<unknown>,
): Promise<void> {
  const box = await element.boundingBox();
  if (!box) throw new Error(`${element} is not on the page.`);
  const page = element.page();
  const session = await page.context().newCDPSession(page);
  const at = { x: box.x + box.width / 2, y: box.y + box.height / 2 };
  const data = { items: [], files: [path], dragOperationsMask: 1 };
  await session.send("Input.dispatchDragEvent", { type: "dragEnter", ...at, data });
  await session.send("Input.dispatchDragEvent", { type: "dragOver", ...at, data });
  await whileOver();
  await session.send("Input.dispatchDragEvent", { type: "drop", ...at, data });
  await session.detach();
}
