import type { AxeResults } from "axe-core";
import { source } from "axe-core";
import type { Page } from "playwright-core";

const GRAVE = ["serious", "critical"];

/** What hinders people who need help to use a page, by axe: each as a line that says what and where. */
export async function graveFaults(page: Page): Promise<readonly string[]> {
  // Not as a script of the page: its policy would refuse it, as it should.
  await page.evaluate(source);
  const { violations } = await page.evaluate(
    (): Promise<AxeResults> => (globalThis as unknown as { axe: typeof import("axe-core") }).axe.run(),
  );
  return violations
    .filter(({ impact }) => GRAVE.includes(impact ?? ""))
    .flatMap(({ id, nodes }) => nodes.map(({ html, failureSummary }) => `${id}: ${html}\n${failureSummary}`));
}
