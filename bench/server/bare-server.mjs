// What we are measured against: the same graph on the same saver, called bare, and written out in the two ways at hand.
import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import { getRequestListener } from "@hono/node-server";
import { PostgresSaver } from "@langchain/langgraph-checkpoint-postgres";
import { Hono } from "hono";
import { streamSSE } from "hono/streaming";
import pg from "pg";
import { createTypist } from "../executor/typist.mjs";
import { answerParent } from "./answer-parent.mjs";

const SSE_HEADERS = { "content-type": "text/event-stream", "cache-control": "no-cache" };
/** Our frames say where in the log and in the run they stand; these are made as long. */
const PADDING = "x".repeat(250);

const pool = new pg.Pool({ connectionString: process.env.BENCH_DATABASE_URL, max: 8 });
const saver = new PostgresSaver(pool, undefined, { schema: "bare" });
await saver.setup();
const graph = createTypist({ checkpointer: saver });

async function* tokensOf(typing) {
  const chunks = await graph.stream(
    { messages: [{ role: "user", id: randomUUID(), content: "Type" }], ...typing },
    { configurable: { thread_id: randomUUID() }, streamMode: "messages", durability: "sync" },
  );
  for await (const [message] of chunks) yield message;
}

function frameOf({ id, content }) {
  const event = { type: "TEXT_MESSAGE_CONTENT", messageId: id, delta: content, rawEvent: PADDING };
  return JSON.stringify(event);
}

const LAST = JSON.stringify({ type: "RUN_FINISHED" });

async function firstTokenMs(typing) {
  const startedAt = performance.now();
  let first;
  for await (const _ of tokensOf(typing)) first ??= performance.now() - startedAt;
  return first;
}

/** Of both ways together: only one of them has watchers at a time. */
const written = new Set();
const streamed = new Set();

async function runWatched(typing) {
  const send = (data) => {
    const frame = Buffer.from(`data: ${data}\n\n`);
    for (const response of written) response.write(frame);
    for (const stream of streamed) void stream.writeSSE({ data });
  };
  for await (const message of tokensOf(typing)) send(frameOf(message));
  send(LAST);
}

async function answerRun(request, response) {
  let body = "";
  for await (const piece of request) body += piece;
  response.writeHead(200, SSE_HEADERS);
  response.flushHeaders();
  for await (const message of tokensOf(JSON.parse(body))) response.write(`data: ${frameOf(message)}\n\n`);
  response.end(`data: ${LAST}\n\n`);
}

function addWatcher(response) {
  response.writeHead(200, SSE_HEADERS);
  response.flushHeaders();
  response.write(": welcome\n\n");
  written.add(response);
  response.once("close", () => written.delete(response));
}

const app = new Hono();
app.get("/watch/hono", (c) =>
  streamSSE(c, async (stream) => {
    const left = new Promise((resolve) => stream.onAbort(resolve));
    await stream.write(": welcome\n\n");
    streamed.add(stream);
    await left;
    streamed.delete(stream);
  }),
);
const hono = getRequestListener(app.fetch);

const server = createServer((request, response) => {
  if (request.url === "/run") void answerRun(request, response);
  else if (request.url === "/watch/written") addWatcher(response);
  else void hono(request, response);
});
await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));

answerParent({
  url: () => `http://127.0.0.1:${server.address().port}`,
  "first tokens": ({ typing, runs }) => Promise.all(Array.from({ length: runs }, () => firstTokenMs(typing))),
  "watched run": runWatched,
});
