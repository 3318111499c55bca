import type { Locator, Page } from "playwright-core";
import { tabTo } from "../rig/keyboard.js";

/** One thing that a person does to a form, named as the page names it. */
export type Step =
  | readonly ["press", string]
  | readonly ["fill", label: string, text: string]
  | readonly ["choose", label: string]
  | readonly ["select", label: string, option: string]
  /** What the page says is waited for. */
  | readonly ["hear", string]
  /** A key on the row of a call. */
  | readonly ["key", row: string, key: string];

type Deed = Exclude<Step, readonly ["hear", string]>;

export type Hands = "mouse" | "keys";

/** Does it by pointing and clicking, or without a pointer at all. `within`: what the agent asks. */
export async function act(hands: Hands, within: Locator, step: Step): Promise<void> {
  if (step[0] === "hear") return within.getByRole("status").filter({ hasText: step[1] }).waitFor();
  await (hands === "mouse" ? byMouse(within, step) : byKeys(within.page(), step));
}

async function byMouse(within: Locator, [what, name, more = ""]: Deed): Promise<void> {
  const page = within.page();
  const labelled = within.getByLabel(name, { exact: true });
  switch (what) {
    case "press":
      return within.getByRole("button", { name, exact: true }).click();
    case "choose":
      return labelled.click();
    case "select":
      await labelled.selectOption({ label: more });
      return;
    case "fill":
      await labelled.click();
      return overwrite(page, more);
    case "key":
      return within.getByRole("group", { name, exact: true }).press(more);
  }
}

async function byKeys(page: Page, [what, name, more = ""]: Deed): Promise<void> {
  const named = new RegExp(`"${name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")}"`);
  switch (what) {
    case "press":
      await tabTo(page, "button", named);
      return page.keyboard.press("Enter");
    case "choose":
      return choose(page, named);
    case "select":
      await tabTo(page, "combobox", named);
      return page.keyboard.type(more);
    case "fill":
      await tabTo(page, "textbox", named);
      return overwrite(page, more);
    case "key":
      await tabTo(page, "group", named);
      return page.keyboard.press(more);
  }
}

async function overwrite(page: Page, text: string): Promise<void> {
  await page.keyboard.press("ControlOrMeta+a");
  if (text === "") await page.keyboard.press("Delete");
  else await page.keyboard.type(text);
}

const MOST_CHOICES = 12;

/** Tab leads to a group of radio buttons, arrows from one to the next; a box is ticked with the space bar. */
async function choose(page: Page, named: RegExp): Promise<void> {
  const label = named.source.slice(1, -1);
  const wanted = page.getByLabel(new RegExp(`^${label}$`));
  if ((await wanted.getAttribute("type")) === "checkbox") {
    await tabTo(page, "checkbox", named);
    return page.keyboard.press("Space");
  }
  await tabTo(page, "radio", /./);
  await page.keyboard.press("Space");
  for (let step = 0; step < MOST_CHOICES && !(await wanted.isChecked()); step += 1) {
    await page.keyboard.press("ArrowDown");
  }
}
