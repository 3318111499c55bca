import { createSimulatedClock } from "@throughline/ai-core";
import { allFeatures, createAgentClient } from "../client/agent-client.js";
import type { CommandOutcome } from "../commands/command.js";
import { createMemoryStorage } from "../commands/pending-sync.js";
import { createMemoryChannels, createMemoryLocks } from "../tabs/memory-ports.js";
import { createLook } from "./fake-browser.js";
import { createModelNetwork } from "./model-network.js";
import { createModelThread } from "./model-thread.js";

export type ModelCommand = "send" | "queue" | "sync" | "fire" | "stop";

export interface ModelTab {
  readonly client: ReturnType<typeof createAgentClient>;
  readonly thread: ReturnType<ReturnType<typeof createAgentClient>["thread"]>;
  submit(kind: ModelCommand): void;
  setHidden(isHidden: boolean): void;
  setFrozen(isFrozen: boolean): void;
  readonly outcomes: { readonly kind: ModelCommand; outcome: CommandOutcome | undefined }[];
}

/** One browser with two tabs on one thread. Time and everything on the network move only when told to. */
export function createModelBrowser() {
  const clock = createSimulatedClock(1_700_000_000_000);
  const thread = createModelThread();
  const network = createModelNetwork(thread);
  const breaches: string[] = [];
  const shared = {
    locks: createMemoryLocks(),
    channels: createMemoryChannels(),
    storage: createMemoryStorage(),
  };

  function openTab(): ModelTab {
    const look = createLook();
    const client = createAgentClient({
      url: "/api",
      ...allFeatures,
      ...shared,
      service: network.service,
      clock,
      random: () => 0.5,
      // As animation frames come: what a leader has not told by then may be lost with it.
      schedule: (callback) => clock.schedule(16, callback).cancel,
      surroundings: look.surroundings,
      telemetry: { misfit: (type) => breaches.push(`${type} did not fit`) },
    });
    const handle = client.thread("agent", "thread");
    handle.open();
    const outcomes: ModelTab["outcomes"] = [];
    const asks: Readonly<Record<ModelCommand, () => Promise<CommandOutcome>>> = {
      send: () => handle.send("hello"),
      queue: () => handle.send("hello", { kind: "queue" }),
      sync: () => handle.sync({ n: outcomes.length }),
      fire: () => handle.fire(),
      stop: () => handle.stop(),
    };
    return {
      client,
      thread: handle,
      outcomes,
      setHidden: look.setHidden,
      setFrozen: look.setFrozen,
      submit(kind) {
        const one: ModelTab["outcomes"][number] = { kind, outcome: undefined };
        outcomes.push(one);
        void asks[kind]().then((outcome) => {
          one.outcome = outcome;
        });
      },
    };
  }

  const tabs = [openTab(), openTab()];
  return {
    clock,
    thread,
    network,
    breaches,
    tabs,
    /** Closes a tab, and opens another in its place. */
    replaceTab(at: number): void {
      tabs[at]?.client.close();
      // A page takes a moment to load.
      clock.advance(1);
      tabs[at] = openTab();
    },
    close(): void {
      for (const { client } of tabs) client.close();
    },
  };
}
