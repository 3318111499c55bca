import { createAgentClient } from "@throughline/agent-client";
import { createHandler, createService, devCaller } from "@throughline/langgraph-server";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Chromium, hasChromium, launchChromium } from "../browser/chromium.js";
import { openTab } from "../client/page/open-tab.js";
import { type PageServer, servePage } from "../client/page/serve-page.js";
import { shownBy, until } from "../client/shown.js";
import { besideCatalog } from "../server/graphs/beside-catalog.js";
import { talk, talker } from "../server/graphs/talker.js";
import { serveHandler } from "./serve-handler.js";

const THREAD = { agentId: "langgraph:talker", threadId: "two tabs" };

describe.runIf(hasChromium())("in a real browser", () => {
  let chromium: Chromium;
  let url: string;
  let served: PageServer;
  const closing: (() => unknown)[] = [];

  beforeAll(async () => {
    const graphs = besideCatalog({ talker });
    const service = await createService({ store: { kind: "memory" }, graphs });
    const handler = createHandler({ service, caller: devCaller() });
    const server = await serveHandler(handler);
    url = server.url;
    served = await servePage({ target: () => url });
    chromium = await launchChromium();
    closing.push(
      () => service.close({ drainMs: 0 }),
      () => handler.close(),
      () => server.stop(),
      () => served.stop(),
      () => chromium.close(),
    );
  }, 60_000);
  afterAll(async () => {
    for (const close of closing.reverse()) await close();
  });

  it("two tabs hold one stream and show what a client beside them shows, also when one is reloaded mid-token", {
    timeout: 60_000,
  }, async () => {
    const client = createAgentClient({ url: `${url}/api/copilotkit` });
    closing.push(() => client.close());
    const witness = client.thread(THREAD.agentId, THREAD.threadId);
    witness.open();
    const tabs = [];
    for (let n = 0; n < 2; n += 1) {
      const tab = await openTab(chromium.context, served.pageUrl(THREAD));
      await tab.until(({ status }) => status !== undefined);
      tabs.push(tab);
    }
    const [first, second] = tabs;
    if (!first || !second) throw new Error("No tabs.");
    // What a page began goes on when it is reloaded.
    void second.send(talk({ words: 120, paceMs: 15 })).catch(() => {});
    for (const tab of tabs) await tab.until(({ streamed }) => streamed > 50);
    await second.page.reload();
    await until(witness, ({ view }) => view.messages.length === 2 && view.run?.status === "success");
    for (const tab of tabs) await tab.toShow(() => shownBy(witness));
    await expect.poll(() => served.openStreams()).toBe(1);
  });
});
