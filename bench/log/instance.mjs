// A process that writes for the bench: node instance.mjs KIND URL FIRST_THREAD. Each message is a load, each answer its result.
import { createPostgresLogStore, openPostgres } from "@throughline/thread-log";
import { createOurs } from "./ours.mjs";
import { createPostgresFloor } from "./postgres-floor.mjs";
import { measureProducers } from "./producers.mjs";

const [, , kind, url, firstThread] = process.argv;

let database;
async function openSide() {
  if (kind === "floor") return createPostgresFloor(url);
  database = await openPostgres({ connection: url, schema: "alone" });
  return createOurs(async () => createPostgresLogStore(database));
}

const side = await openSide();
process.on("message", async (load) => {
  process.send(await measureProducers(side, { ...load, firstThread: Number(firstThread) }));
});
process.on("disconnect", async () => {
  await side.close();
  await database?.close();
});
process.send("ready");
