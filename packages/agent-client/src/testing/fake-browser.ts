import { createSimulatedClock } from "@throughline/ai-core";
import { type AgentClientOptions, allFeatures, createAgentClient } from "../client/agent-client.js";
import type { Surroundings } from "../client/environment.js";
import { createMemoryStorage } from "../commands/pending-sync.js";
import { createMemoryChannels, createMemoryLocks } from "../tabs/memory-ports.js";
import { createFakeService, settled } from "./fake-service.js";

/** One browser: tabs that share locks, channels and storage, and each have a service of their own to be counted. */
export function browser() {
  const locks = createMemoryLocks();
  const channels = createMemoryChannels();
  const storage = createMemoryStorage();
  const clock = createSimulatedClock(1_000_000);

  async function tab(options: Partial<AgentClientOptions> = {}) {
    const fake = createFakeService();
    const { surroundings, setHidden } = createLook();
    const client = createAgentClient({
      url: "/api",
      ...allFeatures,
      service: fake.service,
      clock,
      random: () => 0.5,
      schedule(callback) {
        queueMicrotask(callback);
        return () => {};
      },
      storage,
      locks,
      channels,
      surroundings,
      ...options,
    });
    await settled();
    const look = (isHidden: boolean) => async () => {
      setHidden(isHidden);
      await settled();
    };
    return { ...fake, hide: look(true), show: look(false), client, thread: client.thread("poet", "t") };
  }

  return {
    locks,
    channels,
    clock,
    tab,
    /** Passes time in small steps, so that tabs can answer each other in between. */
    async pass(ms: number) {
      for (let passed = 0; passed < ms; passed += 500) {
        clock.advance(500);
        await settled();
      }
    },
  };
}

/** Whether a tab is visible, and whether the browser lets it run. */
export function createLook() {
  let isHidden = false;
  let isFrozen = false;
  let changed = () => {};
  const surroundings: Surroundings = {
    isHidden: () => isHidden,
    isOnline: () => true,
    isFrozen: () => isFrozen,
    subscribe(listener) {
      changed = listener;
      return () => {};
    },
  };
  return {
    surroundings,
    setHidden(hidden: boolean): void {
      isHidden = hidden;
      changed();
    },
    setFrozen(frozen: boolean): void {
      isFrozen = frozen;
      changed();
    },
  };
}
