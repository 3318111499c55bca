import type { Page } from "playwright-core";

/** Until nothing on the page is still on its way: what loads says so, to screen readers too. */
export async function untilLoaded(page: Page): Promise<void> {
  await page.getByRole("main").waitFor();
  const loading = page
    .getByRole("status")
    .filter({ hasText: /^(Loading|Asking|Reading the log|Connecting)/ });
  await loading.first().waitFor({ state: "detached" });
}
