import { randomUUID } from "node:crypto";
import { CopilotKitCore, ɵcreateThreadStore, type ɵThreadStore } from "@copilotkit/core";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { readEvents } from "../../packages/langgraph-server/src/testing/sse-events.js";
import { agentRoutes, said } from "../server/rig/agent-routes.js";
import { type RigPostgres, startPostgres } from "../server/rig/start-postgres.js";
import { type RigServer, startServer } from "../server/rig/start-server.js";

const REMEMBERER = new URL("./rememberer.ts", import.meta.url);

let postgres: RigPostgres;
let server: RigServer;
beforeAll(async () => {
  postgres = await startPostgres();
  server = await startServer({ databaseUrl: await postgres.createDatabase() });
});
afterAll(async () => {
  await server.stop();
  await postgres.stop();
});

async function say(threadId: string, text: string, headers: Record<string, string>, agent = "chat") {
  const input = { threadId, messages: [said(randomUUID(), text)] };
  return readEvents(await agentRoutes(server.url).run(agent, input, headers));
}

/** Waits until the store says so; its own notifications tell when to look. */
function until(store: ɵThreadStore, holds: (state: ReturnType<ɵThreadStore["getState"]>) => boolean) {
  return new Promise<void>((resolve) => {
    const subscription = store
      .select((state) => state)
      .subscribe((state) => {
        if (!holds(state)) return;
        resolve();
        queueMicrotask(() => subscription.unsubscribe());
      });
  });
}

describe.each(["rest", "single"] as const)(
  "CopilotKit's own thread store over its %s transport",
  (transport) => {
    const opened: ɵThreadStore[] = [];
    afterEach(() => {
      for (const store of opened.splice(0)) store.stop();
      vi.unstubAllGlobals();
    });

    async function openStore(
      headers: Record<string, string>,
      more: { limit?: number; includeArchived?: boolean } = {},
    ) {
      const runtimeUrl = `${server.url}/api/copilotkit`;
      // Without a window it takes itself to be rendered on a server, and asks for nothing.
      vi.stubGlobal("window", new EventTarget());
      const core = new CopilotKitCore({ runtimeUrl, headers, runtimeTransport: transport });
      await new Promise<void>((resolve) => {
        core.subscribe({
          onRuntimeConnectionStatusChanged: ({ status }) => {
            if (status === "connected") resolve();
          },
        });
      });
      expect(core.threadEndpoints).toMatchObject({ list: true, mutations: true, realtimeMetadata: false });
      const store = ɵcreateThreadStore({ fetch: core.ɵruntimeFetch });
      opened.push(store);
      store.start();
      store.setContext({ runtimeUrl, headers, agentId: "langgraph:chat", ...more });
      await until(store, ({ isLoading }) => !isLoading);
      return store;
    }

    it("lists, renames, archives and takes back", async () => {
      const headers = { "x-throughline-account": `cpk-${randomUUID()}` };
      await say("one", "Tell me about tides", headers);
      await say("two", "What is 2 + 2?", headers);
      const store = await openStore(headers);
      expect(store.getState().threads).toMatchObject([
        { id: "two", name: "What is 2 + 2?", agentId: "langgraph:chat", archived: false },
        { id: "one", name: "Tell me about tides" },
      ]);
      await store.renameThread("one", "Tides");
      await store.archiveThread("two");
      store.refetchThreads();
      await until(store, ({ threads }) => threads.length === 1);
      expect(store.getState().threads).toMatchObject([{ id: "one", name: "Tides" }]);
      const all = await openStore(headers, { includeArchived: true });
      expect(all.getState().threads).toHaveLength(2);
      await all.unarchiveThread("two");
      expect((await openStore(headers)).getState().threads).toHaveLength(2);
      await expect(all.renameThread("never", "x")).rejects.toThrow("404");
    });

    it("fetches page after page", async () => {
      const headers = { "x-throughline-account": `cpk-${randomUUID()}` };
      for (const name of ["a", "b", "c"]) await say(name, name, headers);
      const store = await openStore(headers, { limit: 2 });
      expect(store.getState().threads.map(({ id }) => id)).toEqual(["c", "b"]);
      store.fetchNextPage();
      await until(store, ({ threads }) => threads.length === 3);
      expect(store.getState()).toMatchObject({ nextCursor: null });
    });
  },
);

it("What graphs remember is listed and deleted by its owner, and by nobody else", async () => {
  const own = await startServer({ databaseUrl: await postgres.createDatabase(), graphs: REMEMBERER });
  try {
    const ann = { "x-throughline-account": "a_b", "x-throughline-subject": "ann" };
    const lookalike = { "x-throughline-account": "axb", "x-throughline-subject": "ann" };
    const input = { threadId: "t", messages: [said(randomUUID(), "I like tea")] };
    await readEvents(await agentRoutes(own.url).run("rememberer", input, ann));
    const items = async (headers: Record<string, string>) =>
      (await fetch(`${own.url}/store/items?prefix=user_facts`, { headers })).json();
    expect(await items(ann)).toMatchObject({
      items: [{ namespace: ["user_facts"], key: "last", value: { text: "I like tea" } }],
    });
    expect(await items(lookalike)).toEqual({ items: [] });
    const remove = (headers: Record<string, string>) =>
      fetch(`${own.url}/store/items?namespace=user_facts&key=last`, { method: "DELETE", headers });
    expect((await remove(lookalike)).status).toBe(404);
    expect((await remove(ann)).status).toBe(204);
    expect(await items(ann)).toEqual({ items: [] });
  } finally {
    await own.stop();
  }
});
