import { Client } from "@langchain/langgraph-sdk";
import type { GraphDescriptor, LogEntry, Message } from "@throughline/ai-core";
import { createLangGraphDevProvider, graphRegistry } from "@throughline/graph-executor";
import {
  createService,
  type Service,
  type ServiceOptions,
  type ThreadAddress,
  threadAddress,
} from "@throughline/langgraph-server";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { graph } from "../record/graphs/painter.js";
import { startRecordServer } from "../record/record-server.mjs";
import { recordFrames } from "./recorded-watch.js";

const caller = { billingAccountId: "acme", virtualKeyId: "key-1", traceId: "trace-1" };
/** What no entry, frame or row may hold. */
const BASE64 = /[A-Za-z0-9+/]{256}/;

const MIB = 1_048_576;
const LIMITS = {
  maxImageBytes: 10 * MIB,
  maxAudioBytes: 10 * MIB,
  maxVideoBytes: 10 * MIB,
  maxDocumentBytes: 10 * MIB,
  maxAttachmentBytesPerThread: 200 * MIB,
  maxAttachmentBytesPerAccount: 200 * MIB,
  maxAttachmentBytesPerRun: 64 * MIB,
  maxAttachmentBytesInRuns: 512 * MIB,
};

let service: Service;
afterEach(() => service.close({ drainMs: 0 }));

async function open(options: Partial<ServiceOptions> = {}): Promise<ThreadAddress> {
  service = await createService({
    store: { kind: "memory" },
    graphs: graphRegistry([{ descriptor: DESCRIPTOR, create: () => graph }]),
    ...options,
  });
  return threadAddress(caller, "painter", "sea");
}

const DESCRIPTOR: GraphDescriptor = {
  graphId: "langgraph:painter",
  graphName: "painter",
  name: "Painter",
  description: "",
  capabilities: ["chat", "tools"],
  commands: [],
  inputSchema: {},
  outputSchema: {},
};

async function say(thread: ThreadAddress, content: string) {
  const started = await service.runs.start({
    thread,
    caller,
    ingressRequestId: "request",
    input: { kind: "input", messages: [{ id: content, role: "user", content }] },
    tools: [],
    context: [],
    profile: "user",
    strategy: "reject",
  });
  if (started.kind !== "started") throw new Error(`Expected a run to start, it is ${started.kind}.`);
  const watch = recordFrames(service.hub, thread, { kind: "run", runId: started.run.runId });
  await watch.ended;
  return watch;
}

async function entriesOf(thread: ThreadAddress): Promise<readonly LogEntry[]> {
  const page = await service.log.read(thread.ref, undefined, 10_000);
  if (page.kind !== "entries") throw new Error(`The log cannot be read: ${page.kind}.`);
  return page.entries;
}

async function messagesOf({ graphId, ref }: ThreadAddress): Promise<readonly Message[]> {
  return (await service.state.getState({ graphId, threadId: ref.threadId }))?.messages ?? [];
}

/** The attachments that are named there. Fails where one of them is not stored. */
async function storedIn({ ref }: ThreadAddress, told: string): Promise<readonly unknown[]> {
  const ids = new Set([...told.matchAll(/throughline:attachment\/([\w-]{43})/g)].map(([, id = ""]) => id));
  const found = await Promise.all([...ids].map((id) => service.attachments.store.find(ref, id)));
  expect(found).not.toContain(undefined);
  return found;
}

describe("A picture that a tool or a model makes", () => {
  it("P76: is an attachment of its thread, and only its address is in log, frames and checkpoint", async () => {
    const thread = await open();
    const watch = await say(thread, "Paint the sea.");
    const told = JSON.stringify([await entriesOf(thread), watch.frames, await messagesOf(thread)]);
    expect(told).not.toMatch(BASE64);
    expect(await storedIn(thread, told)).toEqual([
      expect.objectContaining({ mimeType: "image/png" }),
      expect.objectContaining({ mimeType: "image/png" }),
    ]);
  });

  it("P77: is shown where it was said, and nothing is told again at the run's end", async () => {
    const thread = await open();
    const { frames } = await say(thread, "Paint the sea.");
    const types = frames.map(({ data }) => data.type);
    expect(types).not.toContain("MESSAGES_SNAPSHOT");
    const text = frames
      .flatMap(({ data }) => (data.type === "TEXT_MESSAGE_CONTENT" ? [data.delta] : []))
      .join("");
    expect(text).toMatch(
      /^I saw 1 pictures\. Here is mine:\n\n!\[image\/png\]\(throughline:attachment\/[\w-]{43}\)\n\nShall I go on\?$/,
    );
    const result = frames.find(({ data }) => data.type === "TOOL_CALL_RESULT")?.data.content;
    expect(result).toMatch(/^A first sketch\.\n\n!\[image\/png\]\(throughline:attachment\/[\w-]{43}\)\n\n$/);
    const later = recordFrames(service.hub, thread, { kind: "nothing" });
    await later.ended;
    const snapshot = JSON.stringify(later.frames.find(({ data }) => data.type === "MESSAGES_SNAPSHOT"));
    expect(snapshot).toContain(JSON.stringify(text).slice(1, -1));
    expect(snapshot).toContain(JSON.stringify(result).slice(1, -1));
  });

  it("reaches the model again in the next turn", async () => {
    const thread = await open();
    await say(thread, "Paint the sea.");
    await say(thread, "Once more.");
    expect(JSON.stringify(await messagesOf(thread))).toContain("I saw 3 pictures");
    // The same two pictures once more.
    expect(await service.attachments.store.heldBytes(thread.ref)).toBeLessThan(50_000);
  });

  it("P78: is named in words, with a warning, where it is larger than it may be", async () => {
    const thread = await open({ attachmentLimits: { ...LIMITS, maxImageBytes: 100 } });
    const { frames } = await say(thread, "Paint the sea.");
    const told = JSON.stringify([await entriesOf(thread), frames, await messagesOf(thread)]);
    expect(told).not.toMatch(BASE64);
    expect(told).toContain("[image/png: is larger than one image may be (maxImageBytes, 100 bytes)]");
    const warnings = (await entriesOf(thread)).filter(({ envelope }) => envelope.type === "warning");
    expect(warnings.map(({ envelope }) => envelope.payload)).toEqual([
      expect.objectContaining({ code: "file_not_stored" }),
      expect.objectContaining({ code: "file_not_stored" }),
    ]);
    expect(frames.map(({ data }) => data.type)).not.toContain("MESSAGES_SNAPSHOT");
  });

  it("is named in words once it turns out that its thread has no room for it", async () => {
    const thread = await open({ attachmentLimits: { ...LIMITS, maxAttachmentBytesPerThread: 100 } });
    const { frames } = await say(thread, "Paint the sea.");
    expect(JSON.stringify([await entriesOf(thread), frames])).not.toMatch(BASE64);
    expect(JSON.stringify(await messagesOf(thread))).toContain("is more than this thread may store");
    const later = recordFrames(service.hub, thread, { kind: "nothing" });
    await later.ended;
    expect(JSON.stringify(later.frames)).toContain("is more than this thread may store");
    expect(JSON.stringify(later.frames)).not.toContain("throughline:attachment");
  });
});

describe("A picture that is made on a LangGraph server, whose checkpoint has the bytes", () => {
  let upstream: Awaited<ReturnType<typeof startRecordServer>>;
  beforeAll(async () => {
    upstream = await startRecordServer();
  }, 60_000);
  afterAll(() => upstream.stop());

  const connect = () => open({ graphs: createLangGraphDevProvider({ url: upstream.url }) });

  it("is told by its address all the same, once, and reaches the model as the server keeps it", async () => {
    const thread = await connect();
    const first = await say(thread, "Paint the sea.");
    const second = await say(thread, "Once more.");
    const told = JSON.stringify([
      await entriesOf(thread),
      first.frames,
      second.frames,
      await messagesOf(thread),
    ]);
    expect(told).not.toMatch(BASE64);
    expect(told).toContain("I saw 3 pictures");
    expect([...first.frames, ...second.frames].map(({ data }) => data.type)).not.toContain(
      "MESSAGES_SNAPSHOT",
    );
    expect(await storedIn(thread, told)).toHaveLength(2);
  });

  it("is stored when the thread is read that somebody else painted in", async () => {
    const thread = await connect();
    const client = new Client({ apiUrl: upstream.url });
    await client.threads.create({ threadId: thread.ref.threadId, ifExists: "do_nothing" });
    const input = { messages: [{ type: "human", id: "theirs", content: "Paint for me." }] };
    await client.runs.wait(thread.ref.threadId, "painter", { input });
    const watch = recordFrames(service.hub, thread, { kind: "nothing" });
    await watch.ended;
    const told = JSON.stringify([watch.frames, await entriesOf(thread)]);
    expect(told).not.toMatch(BASE64);
    expect(await storedIn(thread, told)).toHaveLength(2);
  });
});
