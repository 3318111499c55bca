import { randomUUID } from "node:crypto";
import type { Browser, BrowserContext, Page } from "playwright-core";

export interface VisitorOptions {
  /** Their way to the console, where it is not the straight one. */
  readonly url?: string;
  /** Without it, an account of their own. */
  readonly account?: string;
  /** Where people sign in by token. */
  readonly token?: string;
  readonly colorScheme?: "light" | "dark";
  readonly viewport?: { readonly width: number; readonly height: number };
  /** They come to the door and sign in themselves. */
  readonly isStranger?: boolean;
  /** The browser's own profile, whose tabs are hidden one behind the other. One visitor at a time. */
  readonly profile?: BrowserContext;
}

/** A person with a browser profile of their own. Its pages are tabs of one browser. */
export interface Visitor {
  readonly account: string;
  readonly context: BrowserContext;
  open(path: string): Promise<Page>;
  /** What went wrong on their pages, as a browser's own console tells it. */
  complaints(): readonly string[];
  leave(): Promise<void>;
}

const DESKTOP = { width: 1280, height: 800 };
const PATIENCE_MS = 45_000;

export async function visit(
  browser: Browser,
  straightUrl: string,
  options: VisitorOptions = {},
): Promise<Visitor> {
  const { url = straightUrl, account = `visitor-${randomUUID()}`, profile } = options;
  const context = profile ?? (await newContext(browser, url, options));
  context.setDefaultTimeout(PATIENCE_MS);
  const complaints: string[] = [];
  context.on("weberror", (error) => complaints.push(String(error.error())));
  context.on("console", (message) => {
    // A refusal by the service, or a network that is away, is what many of these tests are about.
    if (message.type() === "error" && !message.text().startsWith("Failed to load resource")) {
      complaints.push(message.text());
    }
  });
  if (!options.isStranger) {
    const answer = await context.request.post(`${url}/api/session`, {
      headers: { origin: url },
      data: options.token === undefined ? { account } : { token: options.token },
    });
    if (!answer.ok()) throw new Error(`${account} can't sign in: ${answer.status()} ${await answer.text()}`);
  }
  return {
    account,
    context,
    async open(path) {
      const page = await context.newPage();
      if (profile) await page.setViewportSize(DESKTOP);
      await page.goto(new URL(path, url).href);
      return page;
    },
    complaints: () => complaints,
    async leave() {
      if (!profile) return context.close();
      for (const page of context.pages()) await page.close();
      await context.clearCookies();
    },
  };
}

function newContext(
  browser: Browser,
  url: string,
  { colorScheme = "light", viewport = DESKTOP }: VisitorOptions,
): Promise<BrowserContext> {
  const isPhone = viewport.width < 600;
  return browser.newContext({
    baseURL: url,
    colorScheme,
    viewport,
    isMobile: isPhone,
    hasTouch: isPhone,
    reducedMotion: "reduce",
  });
}
