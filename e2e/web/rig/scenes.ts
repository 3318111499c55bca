import type { Page } from "playwright-core";
import { talk } from "../../server/graphs/talker.js";
import { type ThreadScreen, threadScreen } from "./thread-screen.js";
import { untilLoaded } from "./until-loaded.js";

/** A page of the console in one of its states, in an account that `fillAccount` filled. */
export interface Scene {
  /** As a file may be called. */
  readonly name: string;
  readonly path: string;
  /** Whose page it is: of the filled account, of one where nothing has happened yet, or of a person who is not signed in. */
  readonly visitor?: "filled" | "fresh" | "stranger";
  /** What is done until it is to be seen. */
  readonly act?: (page: Page) => Promise<unknown>;
}

const button = (page: Page, name: string | RegExp) =>
  page.getByRole("button", { name, exact: typeof name === "string" });

async function openTab(page: Page, name: string | RegExp): Promise<void> {
  await button(page, "Open the side panel").click();
  await page.getByRole("tab", { name }).click();
  await untilLoaded(page);
}

const onThread = (act: (screen: ThreadScreen) => Promise<unknown>) => (page: Page) => act(threadScreen(page));

export const SCENES: readonly Scene[] = [
  { name: "sign-in", path: "/", visitor: "stranger" },
  {
    name: "sign-in-refused",
    path: "/sign-in",
    visitor: "stranger",
    async act(page) {
      await page.getByLabel("Account").fill("not an account");
      await button(page, "Continue").click();
      await page.getByRole("alert").filter({ hasText: /\w/ }).waitFor();
    },
  },
  { name: "home-fresh", path: "/", visitor: "fresh" },
  {
    name: "home",
    path: "/",
    act: (page) => page.getByRole("main").getByText("Waiting for you").first().waitFor(),
  },
  { name: "not-found", path: "/nowhere" },
  { name: "agent-unknown", path: "/agents/nobody" },
  { name: "thread-new", path: "/agents/poet", visitor: "fresh" },
  { name: "thread-poet", path: "/agents/poet/train" },
  {
    name: "thread-streaming",
    path: "/agents/talker",
    act: onThread(async (screen) => {
      await screen.say(talk({ words: 2_000, paceMs: 30 }));
      await screen.untilShown("30:xxxxx");
    }),
  },
  {
    name: "thread-reasoning",
    path: "/agents/ponderer/city",
    act: (page) =>
      button(page, /^Thought/)
        .first()
        .click(),
  },
  {
    name: "thread-tools",
    path: "/agents/chat/sums",
    async act(page) {
      await button(page, /calculat/)
        .first()
        .click();
      await page.getByText("Result").first().waitFor();
    },
  },
  {
    name: "thread-nested",
    path: "/agents/researcher/crash",
    async act(page) {
      await button(page, /tool calls/)
        .first()
        .click();
      await button(page, /^Subagent/)
        .first()
        .click();
    },
  },
  { name: "thread-todos-files", path: "/agents/researcher/crash", act: (page) => openTab(page, /Todos/) },
  {
    name: "thread-file",
    path: "/agents/researcher/crash",
    async act(page) {
      await openTab(page, /Todos/);
      await page
        .getByRole("tabpanel")
        .getByRole("button", { name: /report\.md/ })
        .click();
      await page.getByRole("dialog").waitFor();
    },
  },
  {
    name: "question",
    path: "/agents/travel/waiting",
    act: onThread(({ questions }) => questions.waitFor()),
  },
  {
    name: "questions",
    path: "/agents/pair/both",
    act: onThread(async ({ questions }) => {
      await questions.getByRole("textbox").first().fill("Oak");
      await questions.getByRole("button", { name: "Answer", exact: true }).first().click();
      await questions.getByText("1 of 2 answered.").waitFor();
    }),
  },
  { name: "thread-state", path: "/agents/travel/planned", act: (page) => openTab(page, "State") },
  { name: "thread-runs", path: "/agents/travel/planned", act: (page) => openTab(page, "Runs") },
  {
    name: "thread-replay",
    path: "/agents/poet/train",
    async act(page) {
      await openTab(page, "Runs");
      await page.getByRole("list", { name: /^Runs/ }).getByRole("button").first().click();
      await page.getByRole("slider").press("PageDown");
    },
  },
  {
    name: "thread-history",
    path: "/agents/travel/planned",
    async act(page) {
      await openTab(page, "History");
      await page
        .getByRole("list", { name: /^Checkpoints/ })
        .locator("summary")
        .first()
        .click();
    },
  },
  { name: "thread-usage", path: "/agents/poet/train", act: (page) => openTab(page, "Usage") },
  { name: "thread-failed", path: "/agents/talker/broken" },
  { name: "thread-stopped", path: "/agents/talker/stopped" },
  {
    name: "thread-edit",
    path: "/agents/poet/train",
    async act(page) {
      const edit = button(page, "Edit and continue in a new thread").first();
      await edit.focus();
      await edit.press("Enter");
      await page.getByRole("textbox", { name: "Your message" }).waitFor();
    },
  },
  {
    name: "thread-draft",
    path: "/agents/poet/train",
    act: onThread(async ({ page, composer }) => {
      await composer.fill("Something about the\nfirst train out");
      await page.getByLabel("Files to attach").setInputFiles([
        { name: "timetable.txt", mimeType: "text/plain", buffer: Buffer.from("05:12") },
        { name: "setup.exe", mimeType: "application/x-msdownload", buffer: Buffer.from("MZ") },
      ]);
      await page.getByText("Uploading…").waitFor({ state: "detached" });
    }),
  },
  {
    name: "thread-unsent",
    path: "/agents/poet/train",
    act: onThread(async ({ page, say, untilLive }) => {
      await untilLive();
      await page.context().setOffline(true);
      await say("Write about cables");
      await page.getByRole("button", { name: "Send again" }).waitFor();
    }),
  },
  {
    name: "inspector",
    path: "/agents/poet/train",
    async act(page) {
      await button(page, "Thread actions").click();
      await page.getByRole("menuitem", { name: "Open the inspector" }).click();
      await untilLoaded(page);
      await page.getByRole("listbox", { name: "Envelopes" }).getByRole("option").last().click();
    },
  },
  { name: "sentinel", path: "/agents/sentinel/watch" },
  {
    name: "sentinel-settings",
    path: "/agents/sentinel/watch",
    async act(page) {
      await button(page, "Settings").click();
      await page.getByRole("dialog").waitFor();
    },
  },
  {
    name: "sentinel-fire",
    path: "/agents/sentinel/watch",
    async act(page) {
      await button(page, "Fire").click();
      await page.getByRole("dialog").waitFor();
    },
  },
  {
    name: "usage-fresh",
    path: "/usage",
    visitor: "fresh",
    act: (page) => page.getByText("Nothing was spent").waitFor(),
  },
  {
    name: "feedback-fresh",
    path: "/feedback",
    visitor: "fresh",
    act: (page) => page.getByText("No feedback yet").waitFor(),
  },
  {
    name: "feedback",
    path: "/feedback",
    act: (page) => page.getByText("It rhymes rain with rain.").waitFor(),
  },
  { name: "inbox-fresh", path: "/inbox", visitor: "fresh" },
  {
    name: "inbox",
    path: "/inbox",
    act: (page) => page.getByRole("article").first().waitFor(),
  },
  { name: "crons-fresh", path: "/crons", visitor: "fresh" },
  { name: "crons", path: "/crons" },
  { name: "cron-new", path: "/crons/new" },
  {
    name: "cron-wrong",
    path: "/crons/new",
    async act(page) {
      await page.getByLabel("What the service understands").fill("every now and then");
      await page.getByText("Shown when the schedule is valid.").waitFor();
    },
  },
  {
    name: "cron",
    path: "/crons",
    async act(page) {
      await page.getByRole("list", { name: "Crons" }).getByRole("link").first().click();
      await page.getByRole("heading", { name: "Ticks" }).waitFor();
    },
  },
  {
    name: "cron-edit",
    path: "/crons",
    async act(page) {
      await page.getByRole("list", { name: "Crons" }).getByRole("link").first().click();
      await button(page, "Edit").click();
      await page.getByRole("heading", { name: "Edit cron" }).waitFor();
    },
  },
  {
    name: "palette",
    path: "/",
    async act(page) {
      await page.keyboard.press("Control+k");
      await page.getByRole("combobox").fill("tr");
    },
  },
  {
    name: "shortcuts",
    path: "/agents/poet/train",
    async act(page) {
      await page.keyboard.press("?");
      await page.getByRole("dialog", { name: "Shortcuts" }).waitFor();
    },
  },
  {
    name: "account-menu",
    path: "/",
    async act(page) {
      await openSidebar(page);
      await button(page, /^Account/).click();
      await page.getByRole("menu").waitFor();
    },
  },
  {
    name: "threads",
    path: "/agents/travel/planned",
    async act(page) {
      await openSidebar(page);
      await button(page, /^Actions for/)
        .first()
        .focus();
      await page.keyboard.press("ArrowDown");
      await page.getByRole("menu").waitFor();
    },
  },
  {
    name: "thread-rename",
    path: "/agents/travel/planned",
    async act(page) {
      await openSidebar(page);
      await button(page, /^Actions for/)
        .first()
        .focus();
      await page.keyboard.press("ArrowDown");
      await page.getByRole("menuitem", { name: "Rename" }).click();
      await page.getByRole("dialog").waitFor();
    },
  },
];

/** On a phone it is behind a button. */
async function openSidebar(page: Page): Promise<void> {
  const opener = button(page, "Agents and threads");
  if (await opener.isVisible()) await opener.click();
}
