import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { DEFAULT_LIMITS } from "../../accounts/limits.js";
import { DEFAULT_ATTACHMENT_LIMITS } from "../../attachments/media-types.js";
import { describeEachStore } from "../../testing/describe-each-store.js";
import { readEvents, typesOf } from "../../testing/sse-events.js";
import { startTestServer, type TestServer } from "../../testing/test-server.js";

/** The beginning of a PNG, and enough more that it would be seen wherever it got to. */
const PICTURE = Buffer.concat([
  Buffer.from("89504e470d0a1a0a", "hex"),
  Buffer.from("picture of a cat ".repeat(200)),
]);
const DATA = PICTURE.toString("base64");

describeEachStore("A file that comes with a message, kept in %s,", (storeOf) => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer({
      store: storeOf(),
      attachmentLimits: {
        ...DEFAULT_ATTACHMENT_LIMITS,
        maxImageBytes: 10_000,
        maxAudioBytes: 100_000,
        maxAttachmentBytesPerThread: 20_000,
      },
    });
  });
  afterAll(() => server.close());

  const ann = { "x-throughline-account": "acme", "x-throughline-subject": "ann" };
  const bodyOf = async (response: Response) => JSON.parse(await response.text());
  const newThread = () => `t-${randomUUID()}`;

  async function send(threadId: string, part: object, headers: Record<string, string> = ann) {
    const message = { id: randomUUID(), role: "user", content: [{ type: "text", text: "Look." }, part] };
    return readEvents(
      await server.post("/api/copilotkit/agent/chat/run", { threadId, messages: [message] }, headers),
    );
  }

  const upload = (
    threadId: string,
    body: string | Uint8Array<ArrayBuffer>,
    type: string,
    { query = "", headers = ann }: { query?: string; headers?: Record<string, string> } = {},
  ) =>
    fetch(`${server.url}/agents/chat/threads/${threadId}/attachments${query}`, {
      method: "POST",
      headers: { ...headers, "content-type": type },
      body,
    });

  const read = (threadId: string, id: string, headers: Record<string, string> = ann) =>
    fetch(`${server.url}/agents/chat/threads/${threadId}/attachments/${id}`, { headers });

  it.each([
    ["an image part", { type: "image", source: { type: "data", value: DATA, mimeType: "image/png" } }],
    ["a binary part", { type: "binary", mimeType: "image/png", data: DATA, filename: "cat.png" }],
    ["a data URL", { type: "image", source: { type: "url", value: `data:image/png;base64,${DATA}` } }],
  ])("as %s is stored once and is an address everywhere else", async (_kind, part) => {
    const threadId = newThread();
    const shown = await send(threadId, part);
    expect(typesOf(shown).at(-1)).toBe("RUN_FINISHED");
    const spoken = shown.map(({ data }) => data.delta ?? "").join("");
    expect(spoken).toContain(`image/png, ${PICTURE.length} bytes`);
    await send(threadId, part);
    const envelopes = await readEvents(
      await fetch(`${server.url}/agents/chat/threads/${threadId}/events?follow=false`, { headers: ann }),
    );
    const connected = await readEvents(
      await server.post("/api/copilotkit/agent/chat/connect", { threadId }, ann),
    );
    const state = await fetch(`${server.url}/agents/chat/threads/${threadId}/state`, { headers: ann });
    const told = JSON.stringify([shown, envelopes, connected, await state.json()]);
    expect(told).not.toContain(DATA.slice(100, 140));
    const ids = new Set(Array.from(told.matchAll(/throughline:attachment\/([\w-]+)/g), ([, id]) => id));
    expect(ids.size).toBe(1);
    const [id = ""] = ids;
    const file = await read(threadId, id);
    expect(Buffer.from(await file.arrayBuffer()).equals(PICTURE)).toBe(true);
  });

  it("is shown to clients as a media part with its address", async () => {
    const threadId = newThread();
    await send(threadId, { type: "binary", mimeType: "image/png", data: DATA, filename: "cat.png" });
    const connected = await readEvents(
      await server.post("/api/copilotkit/agent/chat/connect", { threadId }, ann),
    );
    const snapshot = connected.find(({ data }) => data.type === "MESSAGES_SNAPSHOT");
    expect(snapshot?.data.messages).toMatchObject([
      {
        content: [
          { type: "text", text: "Look." },
          {
            type: "image",
            source: { type: "url", mimeType: "image/png" },
            metadata: { filename: "cat.png", bytes: PICTURE.length },
          },
        ],
      },
      { role: "assistant" },
    ]);
  });

  it("is uploaded before the message that names it", async () => {
    const threadId = newThread();
    const response = await upload(threadId, PICTURE, "image/png", { query: "?filename=cat%20%C3%A4.png" });
    expect(response.status).toBe(201);
    const uploaded = await bodyOf(response);
    expect(uploaded).toMatchObject({ mimeType: "image/png", filename: "cat ä.png", bytes: PICTURE.length });
    for (const part of [
      { type: "image", source: { type: "url", value: uploaded.url } },
      { type: "binary", mimeType: "image/png", id: uploaded.id },
    ]) {
      const events = await send(threadId, part);
      expect(events.map(({ data }) => data.delta ?? "").join("")).toContain("cat ä.png");
    }
  });

  it("is read back in a way that no browser takes for a page", async () => {
    const threadId = newThread();
    const picture = await bodyOf(
      await upload(threadId, PICTURE, "image/png", { query: "?filename=a'b.png" }),
    );
    const { headers } = await read(threadId, picture.id);
    expect(Object.fromEntries(headers)).toMatchObject({
      "content-type": "image/png",
      "content-disposition": "inline; filename*=UTF-8''a%27b.png",
      "x-content-type-options": "nosniff",
      "content-security-policy": "default-src 'none'; sandbox",
      "cache-control": "private, max-age=31536000, immutable",
    });
    const page = "<script>alert(1)</script>";
    const text = await bodyOf(await upload(threadId, page, "text/plain; charset=utf-8"));
    const { headers: asText } = await read(threadId, text.id);
    expect(asText.get("content-type")).toBe("text/plain");
    expect(asText.get("content-disposition")).toBe("attachment");
    for (const type of ["text/html", "image/svg+xml", "application/javascript", ""]) {
      expect((await upload(threadId, page, type || "unknown")).status).toBe(400);
    }
  });

  it("is refused by name and limit where it is of no known type, too large or no file", async () => {
    const threadId = newThread();
    const large = Buffer.alloc(10_001);
    const refusals = [
      [{ type: "binary", mimeType: "image/svg+xml", data: DATA }, "invalid_input"],
      [{ type: "binary", mimeType: "image/png", data: "not base64!" }, "invalid_input"],
      [{ type: "binary", mimeType: "image/png", data: large.toString("base64") }, "too_large"],
      [{ type: "binary", mimeType: "image/png", id: "never" }, "invalid_input"],
    ] as const;
    for (const [part, code] of refusals) {
      const events = await send(threadId, part);
      expect(events.at(-1)?.data).toMatchObject({
        type: "RUN_ERROR",
        code,
        message: expect.stringContaining("messages.0.content.1"),
      });
    }
    const local = { type: "image", source: { type: "url", value: "file:///etc/passwd" } };
    const message = { id: "m", role: "user", content: [local] };
    const response = await server.post(
      "/api/copilotkit/agent/chat/run",
      { threadId, messages: [message] },
      ann,
    );
    expect(response.status).toBe(400);
    expect((await upload(threadId, large, "image/png")).status).toBe(413);
    expect((await upload(threadId, "", "image/png")).status).toBe(400);
    expect((await upload(threadId, Buffer.alloc(15_000), "audio/wav")).status).toBe(201);
    const over = await upload(threadId, Buffer.alloc(9_000, 1), "image/png");
    expect(await over.json()).toMatchObject({
      code: "too_large",
      details: { limit: "maxAttachmentBytesPerThread", max: 20_000 },
    });
  });

  it("is nobody else's, whatever they know of it", async () => {
    const threadId = newThread();
    const { id, url } = await bodyOf(await upload(threadId, PICTURE, "image/png"));
    for (const other of [
      { "x-throughline-account": "acme" },
      { "x-throughline-account": "acme", "x-throughline-subject": "bob" },
      { "x-throughline-account": "rival", "x-throughline-subject": "ann" },
    ]) {
      expect((await read(threadId, id, other)).status).toBe(404);
      const events = await send(threadId, { type: "image", source: { type: "url", value: url } }, other);
      expect(events.at(-1)?.data).toMatchObject({ type: "RUN_ERROR", code: "invalid_input" });
    }
    expect((await read(newThread(), id)).status).toBe(404);
  });

  it("comes along when its thread is forked, and stays when the first is deleted", async () => {
    const threadId = newThread();
    await send(threadId, { type: "binary", mimeType: "image/png", data: DATA });
    const to = newThread();
    const forked = await server.post(`/agents/chat/threads/${threadId}/fork`, { threadName: to }, ann);
    expect(forked.status).toBe(201);
    const state = await fetch(`${server.url}/agents/chat/threads/${to}/state`, { headers: ann });
    const [, { url }] = (await bodyOf(state)).messages[0].content;
    const [listing] = (
      await server.service.directory.list({ account: "acme", subject: "ann" }, { limit: 1, search: threadId })
    ).threads;
    if (!listing) throw new Error("Expected the thread to be listed.");
    await server.service.attachments.store.deleteThread(listing.thread);
    expect((await read(threadId, url.split("/").at(-1))).status).toBe(404);
    expect((await read(to, url.split("/").at(-1))).status).toBe(200);
  });
});

describe("An image that a message names by URL", () => {
  const url = "https://cdn.example.org/cat.png";
  const image = (value: string) => ({ type: "image", source: { type: "url", value } });
  const sayOf = async (server: TestServer, ...parts: readonly object[]) =>
    readEvents(
      await server.post("/api/copilotkit/agent/chat/run", {
        threadId: "t",
        messages: parts.map((part, index) => ({ id: `m${index}`, role: "user", content: [part] })),
      }),
    );

  it("is refused by the name of its field where no origin is allowed, with what to do instead", async () => {
    const server = await startTestServer();
    try {
      const events = await sayOf(server, image(url));
      expect(events.at(-1)?.data).toMatchObject({
        type: "RUN_ERROR",
        code: "invalid_input",
        message: expect.stringMatching(
          /^messages\.0\.content\.0: .*Upload the file.*THROUGHLINE_MEDIA_ORIGINS/,
        ),
      });
    } finally {
      await server.close();
    }
  });

  it("is handed to the graph at an allowed origin, and one inside is refused at any", async () => {
    const server = await startTestServer({ mediaOrigins: ["*"] });
    try {
      expect(typesOf(await sayOf(server, image(url))).at(-1)).toBe("RUN_FINISHED");
      const inside = await sayOf(server, image(url), image("https://169.254.169.254/latest/meta-data"));
      expect(inside.at(-1)?.data).toMatchObject({
        code: "invalid_input",
        message: expect.stringContaining("messages.1.content.0"),
      });
    } finally {
      await server.close();
    }
  });
});

it("Files that are larger than a request may be count for what an account may send in a minute", async () => {
  const limits = { ...DEFAULT_LIMITS, maxBodyBytes: 1_000, maxBodyBytesPerMinute: 10_000 };
  const server = await startTestServer({ limits });
  try {
    const statuses: number[] = [];
    for (const letter of ["a", "b", "c"]) {
      const response = await fetch(`${server.url}/agents/chat/threads/t/attachments`, {
        method: "POST",
        headers: { "content-type": "text/plain" },
        body: letter.repeat(6_000),
      });
      await response.text();
      statuses.push(response.status);
    }
    expect(statuses).toEqual([201, 201, 429]);
  } finally {
    await server.close();
  }
});
