import { createClient } from "redis";
import { groupWrites } from "./group-writes.mjs";
import { envelopeOf } from "./ours.mjs";

/**
 * Entries by bare `redis`: one pipelined XADD each and one PUBLISH per round trip, XREAD of what changed per message.
 *
 * @returns {Promise<import("./services.mjs").Side>}
 */
export async function createRedisFloor(url) {
  const writer = createClient({ url });
  const reader = createClient({ url });
  await Promise.all([writer.connect(), reader.connect()]);
  const keyOf = (thread) => `floor:${thread}`;
  const listeners = new Set();
  await reader.subscribe("floor", (message) => {
    for (const listener of listeners) listener(message);
  });

  const append = groupWrites((rows) =>
    Promise.all([
      ...rows.map(({ thread, text }) => {
        const envelope = JSON.stringify(envelopeOf({ threadId: `thread-${thread}` }, text));
        return writer.sendCommand(["XADD", keyOf(thread), "*", "e", envelope]);
      }),
      writer.publish("floor", [...new Set(rows.map(({ thread }) => thread))].join(",")),
    ]),
  );

  return {
    append,
    async watch(threads, onText) {
      const seen = new Map(
        await Promise.all(
          threads.map(async (thread) => {
            const last = await reader.xRevRange(keyOf(thread), "+", "-", { COUNT: 1 });
            return [thread, last[0]?.id ?? "0"];
          }),
        ),
      );
      const dirty = new Set();
      let reading;
      async function read() {
        while (dirty.size > 0) {
          const asked = [...dirty];
          dirty.clear();
          const streams = await reader.xRead(
            asked.map((thread) => ({ key: keyOf(thread), id: seen.get(thread) })),
          );
          for (const { name, messages } of streams ?? []) {
            const thread = Number(name.slice("floor:".length));
            for (const { id, message } of messages) {
              seen.set(thread, id);
              onText(JSON.parse(message.e).payload.value);
            }
          }
        }
        reading = undefined;
      }
      const onMessage = (message) => {
        for (const thread of message.split(",").map(Number)) if (seen.has(thread)) dirty.add(thread);
        reading ??= read();
      };
      listeners.add(onMessage);
      return async () => {
        listeners.delete(onMessage);
        await reading;
      };
    },
    async close() {
      writer.destroy();
      reader.destroy();
    },
  };
}
