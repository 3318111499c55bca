import { createSimulatedClock, type SimulatedClock } from "@throughline/ai-core";
import { createMemoryDatabase } from "@throughline/thread-log";
import { afterEach, describe, expect, it, vi } from "vitest";
import { createMemoryDeletionStore } from "../server/memory/memory-deletions.js";
import { type ThreadAddress, threadAddress } from "../threads/thread-address.js";
import { memoryBillingStores } from "./billing.js";
import type { DeletionStore } from "./deletion.js";
import { createDeletionService, type DeletionService } from "./deletion-service.js";
import { createAccountLimiter, DEFAULT_LIMITS } from "./limits.js";

interface Scene {
  readonly clock: SimulatedClock;
  readonly service: DeletionService;
  readonly store: DeletionStore;
  /** How often the receipt of a deletion was read. */
  readonly reads: () => number;
  /** Accounts in the order in which the checkpoints of their threads were deleted. */
  readonly order: readonly string[];
  /** Lets the deletion of one thread's checkpoints go on. */
  readonly release: (account: string) => void;
}

let service: DeletionService | undefined;
afterEach(() => service?.close());

/** A service whose checkpoints take as long to delete as the test wants. */
function open({ isSlow = () => false }: { readonly isSlow?: (account: string) => boolean } = {}): Scene {
  const clock = createSimulatedClock(1_000_000);
  const store = createMemoryDeletionStore(createMemoryDatabase(clock));
  const usage = createAccountLimiter({ clock });
  const order: string[] = [];
  const held = new Map<string, (() => void)[]>();
  let reads = 0;
  const accountOf = new Map<string, string>();
  service = createDeletionService({
    store: {
      ...store,
      find(id) {
        reads += 1;
        return store.find(id);
      },
      async begin(request) {
        accountOf.set(request.scope.threadId ?? "", request.scope.account);
        return store.begin(request);
      },
    },
    log: {
      threads: async () => ({ threads: [], next: undefined }),
      deleteThread: async () => true,
      deleteAccount: async () => 0,
    },
    audit: { deleteScope: async () => {} },
    registry: { list: async () => [], deleteThread: async () => undefined, deleteAccount: async () => [] },
    state: {
      async deleteThread({ threadId }) {
        const account = accountOf.get(threadId) ?? "";
        order.push(account);
        if (!isSlow(account)) return;
        await new Promise<void>((resolve) => {
          held.set(account, [...(held.get(account) ?? []), resolve]);
        });
      },
    },
    directory: { deleteThread: async () => {}, deleteAccount: async () => {} },
    feedback: { deleteThread: async () => {}, deleteAccount: async () => {} },
    messages: { deleteThread: async () => {}, deleteAccount: async () => {} },
    attachments: { deleteThread: async () => 0, deleteAccount: async () => 0 },
    crons: { removeAll: async () => 0 },
    billing: memoryBillingStores(clock),
    storeItems: undefined,
    clock,
    leaseMs: 3_600_000,
    everyMs: 5_000,
    random: () => 0.5,
    observer: { failed: (message, error) => expect.fail(`${message} ${String(error)}`) },
    admit: (account) => usage.delete(account, { ...DEFAULT_LIMITS, maxDeletionsPerMinute: 1_000 }),
  });
  return {
    clock,
    service,
    store,
    reads: () => reads,
    order,
    release(account) {
      const [first, ...rest] = held.get(account) ?? [];
      held.set(account, rest);
      first?.();
    },
  };
}

const threadOf = (account: string, index: number): ThreadAddress =>
  threadAddress({ billingAccountId: account }, "poet", `thread ${index}`);

describe("Deletions", () => {
  it("of one account by the thousand do not delay the first of another", async () => {
    const { service: deletions, order } = open();
    const many = await Promise.all(
      Array.from({ length: 1_000 }, (_, index) =>
        deletions.deleteThread(threadOf("greedy", index), "greedy"),
      ),
    );
    const before = order.length;
    const one = await deletions.deleteThread(threadOf("modest", 0), "modest");
    expect((await deletions.untilDeleted(one, 60_000)).phase).toBe("deleted");
    expect(order.indexOf("modest") - before).toBeLessThan(20);
    for (const deletion of many) await deletions.untilDeleted(deletion, 60_000);
    expect(order.filter((account) => account === "greedy")).toHaveLength(1_000);
  });

  it("of an account that takes its time leave workers to the others", async () => {
    const { service: deletions, order, release } = open({ isSlow: (account) => account === "slow" });
    const slow = await Promise.all(
      Array.from({ length: 20 }, (_, index) => deletions.deleteThread(threadOf("slow", index), "slow")),
    );
    await vi.waitFor(() => expect(order).toEqual(["slow", "slow"]));
    const quick = await deletions.deleteThread(threadOf("quick", 0), "quick");
    expect((await deletions.untilDeleted(quick, 60_000)).phase).toBe("deleted");
    expect(order).toEqual(["slow", "slow", "quick"]);
    for (let done = 0; done < slow.length; done += 1) {
      await vi.waitFor(() => expect(order.length).toBeGreaterThan(done + 1));
      release("slow");
    }
    await vi.waitFor(async () => {
      for (const { id } of slow) expect((await deletions.find(id))?.phase).toBe("deleted");
    });
  });

  it("are waited for by being told: no reading while nothing happens, and none of the clock", async () => {
    const { service: deletions, clock, reads, release, order } = open({ isSlow: () => true });
    const begun = await deletions.deleteThread(threadOf("acme", 0), "acme");
    await vi.waitFor(() => expect(order).toHaveLength(1));
    const waiting = deletions.untilDeleted(begun, 5_000);
    await vi.waitFor(() => expect(reads()).toBe(1));
    clock.advance(900);
    await new Promise(setImmediate);
    expect(reads()).toBe(1);
    release("acme");
    expect((await waiting).phase).toBe("deleted");
    expect(reads()).toBe(2);
  });

  it("that another instance works on are noticed by a slow poll, and not waited for past the patience", async () => {
    const { service: deletions, store, clock, reads } = open();
    const begun = await store.begin({ scope: { account: "acme", subject: undefined }, askedBy: "acme" });
    const elsewhere = await store.claim(3_600_000);
    if (!elsewhere) throw new Error("It is due.");
    const impatient = deletions.untilDeleted(begun, 2_500);
    for (let second = 1; second <= 3; second += 1) {
      await vi.waitFor(() => expect(reads()).toBe(second));
      clock.advance(1_000);
    }
    expect((await impatient).phase).toBe("deleting");
    const patient = deletions.untilDeleted(begun, 5_000);
    await vi.waitFor(() => expect(reads()).toBe(5));
    await store.move(elsewhere, "deleted", 1_000);
    clock.advance(1_000);
    expect((await patient).phase).toBe("deleted");
  });

  it("past the limit of an account are refused with when to come back, and another account's are not", async () => {
    const { service: deletions, clock } = open();
    for (let index = 0; index < 1_000; index += 1) {
      await deletions.deleteThread(threadOf("greedy", index), "greedy");
    }
    const refused = deletions.deleteAccount("greedy", undefined, "greedy");
    await expect(refused).rejects.toMatchObject({
      code: "rate_limited",
      details: { limit: "maxDeletionsPerMinute", retryAfterMs: 60 },
    });
    await deletions.deleteThread(threadOf("modest", 0), "modest");
    clock.advance(60);
    await deletions.deleteThread(threadOf("greedy", 1_000), "greedy");
  });
});
