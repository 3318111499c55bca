import { createSimulatedClock, type EmbeddedFile } from "@throughline/ai-core";
import { createMemoryDatabase } from "@throughline/thread-log";
import { describe, expect, it } from "vitest";
import { createMemoryAttachmentStore } from "../server/memory/memory-attachments.js";
import { DEFAULT_ATTACHMENT_LIMITS } from "./media-types.js";
import { attachmentId, createFileKeeper } from "./receive-file.js";

const thread = { account: "acme", threadId: "t" };

function made(text: string, mimeType = "image/png"): EmbeddedFile & { reads: number } {
  const bytes = Buffer.from(text);
  return {
    id: attachmentId(mimeType, bytes),
    mimeType,
    filename: undefined,
    bytes: bytes.length,
    reads: 0,
    content() {
      this.reads += 1;
      return [bytes];
    },
  };
}

function open(limits = {}) {
  const clock = createSimulatedClock(0);
  const store = createMemoryAttachmentStore(createMemoryDatabase(clock));
  const keeper = createFileKeeper({
    store,
    limits: { ...DEFAULT_ATTACHMENT_LIMITS, ...limits },
    clock,
    signal: new AbortController().signal,
  });
  return { keeper, store };
}

describe("A file that a graph made", () => {
  it("is stored once, under the id it was named by, and stays as long as its thread", async () => {
    const { keeper, store } = open();
    const file = made("waves");
    expect(await Promise.all([keeper.keep(thread, file), keeper.keep(thread, file)])).toEqual([
      undefined,
      undefined,
    ]);
    await keeper.keep(thread, file);
    expect(file.reads).toBe(1);
    expect(await store.find(thread, file.id)).toMatchObject({ bytes: 5, mimeType: "image/png" });
    await store.sweep({ unnamedMs: -1, stalledMs: 0, orphanedMs: 1_000 });
    expect(await store.find(thread, file.id)).toBeDefined();
  });

  it("may be of any type and need not begin as its type does", async () => {
    const { keeper, store } = open();
    const file = made("<svg/>", "image/svg+xml");
    expect(await keeper.keep(thread, file)).toBeUndefined();
    expect(await store.find(thread, file.id)).toMatchObject({ mimeType: "image/svg+xml" });
  });

  it("is refused in words by the limits that uploads have", async () => {
    const { keeper } = open({ maxImageBytes: 3, maxAttachmentBytesPerThread: 8 });
    expect(keeper.refusal(made("waves"))).toBe("is larger than one image may be (maxImageBytes, 3 bytes)");
    expect(await keeper.keep(thread, made("waves"))).toBe(
      "is larger than one image may be (maxImageBytes, 3 bytes)",
    );
    expect(await keeper.keep(thread, made("a long text", "text/plain"))).toMatch(
      /^is more than this thread may store/,
    );
  });

  it("can be waited for while it is on its way", async () => {
    const { keeper, store } = open();
    const file = made("waves");
    void keeper.keep(thread, file);
    await keeper.underWay(thread, file.id);
    expect(await store.find(thread, file.id)).toBeDefined();
    await keeper.underWay(thread, "another");
  });
});
