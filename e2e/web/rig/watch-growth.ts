/// <reference lib="dom" />
import type { Locator } from "playwright-core";

/** Remembers every length the text had from now on; the last one is what it has. */
export async function watchGrowth(element: Locator): Promise<{ lengths(): Promise<readonly number[]> }> {
  const seen = await element.evaluateHandle((node) => {
    const lengths = [node.textContent?.length ?? 0];
    const look = () => {
      const length = node.textContent?.length ?? 0;
      if (length !== lengths.at(-1)) lengths.push(length);
    };
    new MutationObserver(look).observe(node, { childList: true, characterData: true, subtree: true });
    return lengths;
  });
  return { lengths: () => seen.evaluate((lengths) => [...lengths]) };
}
