import type { Page } from "playwright-core";

/** Longer than any page's way round. */
const MOST_STEPS = 120;

/** Goes from one thing to the next until the one of this role and name has the focus, as a keyboard user does. */
export async function tabTo(page: Page, role: string, name: RegExp): Promise<void> {
  const passed: string[] = [];
  for (let step = 0; step < MOST_STEPS; step += 1) {
    const focused = await heardOfFocus(page);
    if (focused.startsWith(`- ${role} `) && name.test(focused)) return;
    passed.push(focused);
    await page.keyboard.press("Tab");
  }
  throw new Error(`No ${role} ${name} among what Tab leads to:\n${[...new Set(passed)].join("\n")}`);
}

/** What a screen reader says of it: role and name. */
async function heardOfFocus(page: Page): Promise<string> {
  const focused = page.locator(":focus");
  if ((await focused.count()) === 0) return "";
  const [first = ""] = (await focused.ariaSnapshot()).split("\n");
  return first;
}

/** Presses a letter until the item of an open menu that it is meant for has the focus: several may begin with it. */
export async function menuItemByLetter(page: Page, letter: string, name: RegExp): Promise<void> {
  const items = await page.getByRole("menu").locator("[role^=menuitem]").count();
  const passed: string[] = [];
  for (let press = 0; press < items; press += 1) {
    await page.keyboard.press(letter);
    const heard = await heardOfFocus(page);
    if (name.test(heard)) return;
    passed.push(heard);
  }
  throw new Error(`No item ${name} among what ${letter} leads to:\n${passed.join("\n")}`);
}
