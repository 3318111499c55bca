import type { BrowserContext, Page } from "playwright-core";
import { expect } from "vitest";

/** A person at a page with a stock `<CopilotChat>`. */
export interface ChatVisitor {
  readonly page: Page;
  say(text: string): Promise<void>;
  /** What assistants have said, one text a message. */
  answers(): Promise<string[]>;
  untilAnswered(text: string | RegExp): Promise<void>;
  untilIdle(): Promise<void>;
  press(label: string | RegExp): Promise<void>;
  untilAsked(label: string | RegExp): Promise<void>;
  stop(): Promise<void>;
  reload(): Promise<void>;
}

const PATIENCE_MS = 60_000;

export async function visitChat(context: BrowserContext, url: string): Promise<ChatVisitor> {
  const page = await context.newPage();
  page.setDefaultTimeout(PATIENCE_MS);
  const chat = page.getByTestId("copilot-chat");
  const button = (name: string | RegExp) => page.getByRole("button", { name });
  const isRunning = async () => (await chat.getAttribute("data-copilot-running")) === "true";

  async function untilLoaded(): Promise<void> {
    await page.getByTestId("copilot-chat-textarea").waitFor();
    await expect.poll(() => chat.count(), { timeout: PATIENCE_MS }).toBe(1);
  }

  const visitor: ChatVisitor = {
    page,
    async say(text) {
      const box = page.getByTestId("copilot-chat-textarea");
      const said = page.getByTestId("copilot-user-message").filter({ hasText: text });
      const before = await said.count();
      const attempt = async () => {
        // While the chat connects it takes nothing: a person would press again.
        if ((await said.count()) === before && !(await isRunning())) {
          await box.fill(text);
          await box.press("Enter");
        }
        return said.count();
      };
      await expect.poll(attempt, { timeout: PATIENCE_MS, interval: 500 }).toBe(before + 1);
    },
    answers: async () =>
      (await page.getByTestId("copilot-assistant-message").allInnerTexts()).map((text) => text.trim()),
    async untilAnswered(text) {
      await page.getByTestId("copilot-assistant-message").filter({ hasText: text }).last().waitFor();
    },
    async untilIdle() {
      await expect.poll(isRunning, { timeout: PATIENCE_MS }).toBe(false);
    },
    async press(label) {
      await button(label).last().click();
    },
    async untilAsked(label) {
      await button(label).last().waitFor();
    },
    async stop() {
      await page.getByTestId("copilot-chat-input").getByRole("button").last().click();
    },
    async reload() {
      await page.reload();
      await untilLoaded();
    },
  };
  await page.goto(url);
  await untilLoaded();
  return visitor;
}
