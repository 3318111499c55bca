import { createSimulatedClock } from "@throughline/ai-core";
import { expect, it } from "vitest";
import { createExportService } from "./export-account.js";
import { createAccountLimiter } from "./limits.js";

/** An account with runs without end: each page is another megabyte. */
function endless() {
  let pages = 0;
  const service = createExportService({
    rows: {
      async page(kind) {
        if (kind !== "runs") return { rows: [], next: undefined };
        pages += 1;
        return { rows: [{ request: "x".repeat(1_048_576) }], next: String(pages) };
      },
    },
    ledger: { list: async () => [] },
    log: {
      head: async () => undefined,
      read: async () => ({ kind: "deleted" }),
      snapshot: async () => undefined,
    },
    state: { getState: async () => undefined, history: async () => [] },
    attachments: { open: async () => undefined },
    storeItems: undefined,
    clock: createSimulatedClock(),
    usage: createAccountLimiter(),
  });
  return { service, pages: () => pages };
}

it("An export reads no further than a part ahead of its reader", async () => {
  const { service, pages } = endless();
  const reader = (await service.open({ account: "acme", subject: undefined })).getReader();
  await new Promise(setImmediate);
  expect(pages()).toBe(0);
  await reader.read();
  expect(pages()).toBe(4);
  let taken = 0;
  for (; taken < 12 * 1_048_576; taken += (await reader.read()).value?.byteLength ?? 0);
  expect(pages()).toBeLessThanOrEqual(16);
  await reader.cancel();
  const before = pages();
  await new Promise(setImmediate);
  expect(pages()).toBe(before);
});

it("An export ends with its instance, and its archive has no manifest", async () => {
  const { service } = endless();
  const reader = (await service.open({ account: "acme", subject: undefined })).getReader();
  await reader.read();
  service.close();
  await expect(reader.read()).rejects.toMatchObject({ code: "shutting_down" });
});
