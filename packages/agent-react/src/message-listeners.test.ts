import { expect, it, vi } from "vitest";
import { messageListeners } from "./keyed-store.js";
import { createFakePage, finished, started, token, told } from "./testing/fake-page.js";

/** A thread with three messages, a listener on each, and a fourth that streams. */
async function setUp() {
  const page = createFakePage();
  const handle = page.client.thread("poet", "t");
  handle.open();
  await Promise.resolve();
  const [stream] = page.streams;
  if (!stream) throw new Error("no stream was opened");
  const subscribed = vi.spyOn(handle, "subscribe");
  const listeners = messageListeners(handle);
  let heard: string[] = [];
  const leave = new Map(
    ["a", "b", "c", "new"].map((id) => [id, listeners.subscribe(id, () => heard.push(id))]),
  );
  stream.tell(...told(["a", "b", "c"].map((id) => ({ id, content: id }))), started("r"), {
    type: "TEXT_MESSAGE_START",
    messageId: "new",
  });
  await page.draw();
  heard = [];
  return {
    ...page,
    handle,
    stream,
    subscribed,
    leave,
    /** Who was told since this was last asked. */
    heard() {
      const since = heard;
      heard = [];
      return since;
    },
  };
}

it("tells whoever shows the message that streams, and nobody else", async () => {
  const { stream, draw, heard, subscribed } = await setUp();
  stream.tell(token("new", "la"));
  await draw();
  expect(heard()).toEqual(["new"]);
  expect(subscribed).toHaveBeenCalledTimes(1);
});

it("tells nobody of what is no message", async () => {
  const { stream, draw, heard } = await setUp();
  stream.tell({ type: "STATE_DELTA", delta: [{ op: "add", path: "/mood", value: "calm" }] });
  await draw();
  expect(heard()).toEqual([]);
});

it("tells everybody when the list is another", async () => {
  const { stream, draw, heard } = await setUp();
  stream.tell({ type: "MESSAGES_SNAPSHOT", messages: [{ id: "b", role: "assistant", content: "other" }] });
  await draw();
  expect(heard()).toEqual(["a", "b", "c", "new"]);
});

it("tells nobody of messages that stay as they are when one comes or another ends", async () => {
  const { stream, draw, heard } = await setUp();
  stream.tell(token("new", "la"), { type: "TEXT_MESSAGE_END", messageId: "new" });
  await draw();
  expect(heard()).toEqual(["new"]);
  stream.tell({ type: "TEXT_MESSAGE_START", messageId: "newer" });
  await draw();
  expect(heard()).toEqual([]);
});

it("tells of a message that ended between two frames", async () => {
  const { stream, draw, heard } = await setUp();
  stream.tell(token("new", "la"), { type: "TEXT_MESSAGE_END", messageId: "new" }, finished("r"));
  await draw();
  expect(heard()).toContain("new");
});

it("tells nobody who left, and leaves the thread with the last", async () => {
  const { client, stream, draw, heard, leave, handle } = await setUp();
  leave.get("new")?.();
  leave.get("new")?.();
  stream.tell(token("new", "la"));
  await draw();
  expect(heard()).toEqual([]);
  for (const one of leave.values()) one();
  // Without listeners, what is shown is current without waiting for a frame.
  stream.tell(token("new", "lu"));
  expect(handle.getSnapshot().view.open[0]?.message.content).toBe("lalu");
  client.close();
});

it("takes up a thread again that everybody had left", async () => {
  const { stream, draw, leave, handle } = await setUp();
  for (const one of leave.values()) one();
  stream.tell(token("new", "unheard"));
  const listener = vi.fn();
  messageListeners(handle).subscribe("new", listener);
  await draw();
  stream.tell(token("new", " heard"));
  await draw();
  expect(listener).toHaveBeenCalled();
});
