import type { Locator, Page } from "playwright-core";

/** A thread's page as a person uses it: found by what is seen and heard, never by how it is built. */
export interface ThreadScreen {
  readonly page: Page;
  readonly conversation: Locator;
  readonly composer: Locator;
  readonly questions: Locator;
  readonly stopButton: Locator;
  say(text: string): Promise<void>;
  /** The conversation without what differs between two people who look at the same: whose tab, how long ago, how long it took. */
  lines(): Promise<readonly string[]>;
  untilShown(text: string | RegExp): Promise<void>;
  /** Until the run that is shown last is over. */
  untilDone(): Promise<void>;
  untilLive(): Promise<void>;
}

export const PATIENCE = { timeout: 45_000, interval: 100 };

export function threadScreen(page: Page): ThreadScreen {
  const conversation = page.getByRole("region", { name: "Conversation" });
  const composer = page.getByRole("textbox", { name: /^Message to / });
  const stopButton = page.getByRole("button", { name: "Stop", exact: true });
  const heard = (text: string) => page.getByRole("status").filter({ hasText: text });
  return {
    page,
    conversation,
    composer,
    questions: page.getByRole("region", { name: "Questions of the agent" }),
    stopButton,
    async say(text) {
      await composer.fill(text);
      await composer.press("Enter");
    },
    // biome-ignore lint/performance/useDomNodeTextContent: a line is what is laid out as one
    lines: async () => steadyLines(await conversation.innerText()),
    untilShown: (text) => conversation.filter({ hasText: text }).waitFor(),
    async untilDone() {
      // There from the moment something is sent: only then is what is heard about this run.
      await stopButton.waitFor({ state: "hidden" });
      await heard("The agent is done.").waitFor({ state: "attached" });
    },
    untilLive: () => heard("Connected.").waitFor({ state: "attached" }),
  };
}

const WHOSE =
  /^(You (chose|said|approved|edited|rejected|ignored|accepted|declined|cancelled|continued).*|(You|Another tab|Schedule|Another client)( answered.*| ran \w+| started this run)?)$/;
const WHEN = /^(now|<?\d[\d.]* (s|min|h|d)( \d+ (s|min))?)$/;

function steadyLines(text: string): readonly string[] {
  return text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "" && !WHOSE.test(line) && !WHEN.test(line));
}
