import { createSimulatedClock, StoreOutage } from "@throughline/ai-core";
import { createMemoryDatabase } from "@throughline/thread-log";
import { describe, expect, it, vi } from "vitest";
import { createMemoryAuditStore } from "../server/memory/memory-stores.js";
import type { NewAuditEntry } from "./audit-entry.js";
import { type AuditLog, createAuditLog } from "./audit-log.js";

const HOUR_MS = 3_600_000;

function scene(options: { maxQueued?: number; maxAgeMs?: number } = {}) {
  const clock = createSimulatedClock(1_000_000);
  const memory = createMemoryAuditStore(createMemoryDatabase(clock));
  const failures: { message: string; error: unknown }[] = [];
  let isAway = false;
  let answersAreLost = false;
  const audit = createAuditLog({
    ...options,
    clock,
    random: () => 0.5,
    observer: {
      failed: (message, error) => void failures.push({ message, error }),
      badRow() {},
      storeUnavailable() {},
    },
    store: {
      ...memory,
      async append(entries) {
        if (isAway) throw new StoreOutage(new Error("away"));
        await memory.append(entries);
        if (answersAreLost) {
          answersAreLost = false;
          throw new StoreOutage(new Error("no answer"));
        }
      },
    },
  });
  return {
    clock,
    audit,
    failures,
    setAway(away: boolean) {
      isAway = away;
    },
    loseNextAnswer() {
      answersAreLost = true;
    },
    async stored() {
      return (await memory.list("acme", { order: "oldest", limit: 1_000 })).entries;
    },
    /** Lets retries and timers come, a moment at a time. */
    async pass(ms: number) {
      for (let passed = 0; passed < ms; passed += 50) {
        clock.advance(50);
        await new Promise((resolve) => setImmediate(resolve));
      }
    },
  };
}

let made = 0;
function entry(more: Partial<NewAuditEntry> = {}): NewAuditEntry {
  made += 1;
  return {
    id: `entry-${made}`,
    account: "acme",
    subject: "ann",
    role: "operator",
    action: "stop",
    outcome: "done",
    code: undefined,
    address: undefined,
    requestId: "r",
    route: "POST /x",
    thread: undefined,
    target: {},
    answer: undefined,
    times: 1,
    ...more,
  };
}

function refusesMore(audit: AuditLog): boolean {
  try {
    audit.admit();
    return false;
  } catch {
    return true;
  }
}

describe("The audit log", () => {
  it("writes in the background, in order", async () => {
    const { audit, stored } = scene();
    for (let n = 0; n < 450; n += 1) audit.record(entry({ requestId: `r${n}` }));
    await audit.flush();
    const requests = (await stored()).map(({ requestId }) => requestId);
    expect(new Set(requests).size).toBe(450);
    await audit.close();
  });

  it("writes what happened while the store was away when it is back, with the time it happened", async () => {
    const { audit, clock, pass, setAway, stored } = scene();
    setAway(true);
    const at = clock.now();
    audit.record(entry());
    await pass(30_000);
    expect(await stored()).toEqual([]);
    setAway(false);
    await pass(2_000);
    expect((await stored()).map((one) => one.at)).toEqual([at]);
    await audit.close();
  });

  it("writes an entry once when the store's answer was lost", async () => {
    const { audit, pass, loseNextAnswer, stored } = scene();
    loseNextAnswer();
    audit.record(entry());
    await pass(1_000);
    expect(await stored()).toHaveLength(1);
    await audit.close();
  });

  it("P75: lets nothing more happen that it could not record", async () => {
    const { audit, pass, setAway, stored } = scene({ maxQueued: 3 });
    setAway(true);
    for (let n = 0; n < 3; n += 1) {
      expect(refusesMore(audit)).toBe(false);
      audit.record(entry());
    }
    expect(refusesMore(audit)).toBe(true);
    setAway(false);
    await pass(2_000);
    expect(refusesMore(audit)).toBe(false);
    expect(await stored()).toHaveLength(3);
    await audit.close();
  });

  it("makes one entry of refusals that are repeated at will", async () => {
    const { audit, pass, stored } = scene();
    const refused = { outcome: "refused", code: "forbidden" } as const;
    for (let n = 0; n < 1_000; n += 1) audit.record(entry(refused));
    audit.record(entry({ ...refused, subject: "bob" }));
    await pass(1_100);
    const counted = (await stored()).map(({ subject, times }) => [subject, times] as const);
    expect(new Map(counted)).toEqual(
      new Map([
        ["ann", 1_000],
        ["bob", 1],
      ]),
    );
    expect(counted).toHaveLength(2);
    audit.record(entry(refused));
    await audit.close();
    expect(await stored()).toHaveLength(3);
  });

  it("is flushed at close, and reports each entry that it had to leave", async () => {
    const open = scene();
    open.audit.record(entry({ outcome: "refused" }));
    await open.audit.close();
    expect(await open.stored()).toHaveLength(1);

    const away = scene();
    away.setAway(true);
    away.audit.record(entry({ requestId: "lost" }));
    const closed = away.audit.close();
    await away.pass(4_000);
    await closed;
    const lost = away.failures.at(-1);
    expect(lost?.message).toBe("An entry of the audit record is lost.");
    expect(lost?.error).toMatchObject({ details: { requestId: "lost", account: "acme", action: "stop" } });
  });

  it("forgets entries past their age, by itself", async () => {
    const { audit, clock, stored } = scene({ maxAgeMs: 10 * HOUR_MS });
    audit.record(entry());
    await audit.flush();
    clock.advance(9 * HOUR_MS);
    audit.record(entry());
    await audit.flush();
    await vi.waitFor(async () => {
      clock.advance(HOUR_MS / 2);
      expect(await stored()).toHaveLength(1);
    });
    await audit.close();
  });
});
