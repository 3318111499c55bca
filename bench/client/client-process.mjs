// One client, by its name: `ours`, one of two tabs that share a stream, or a package.
import { workloads } from "./conversation.mjs";
import { measureStream } from "./measure-stream.mjs";

const [, , name] = process.argv;
const prepare = await loadClient();
const opens = Object.fromEntries(
  Object.entries(workloads).map(([label, workload]) => [label, prepare(workload)]),
);

async function loadClient() {
  if (name === "ours") return (await import("./ours.mjs")).prepareOurs;
  if (name === "leader") return (await import("./tabs.mjs")).prepareLeader;
  if (name === "follower") return (await import("./tabs.mjs")).prepareFollower;
  return (await import("./stock.mjs")).loadStock(name);
}

process.on("message", async ({ label, ms }) => {
  try {
    if (label === "heap") {
      process.send({ cost: await (await import("./heap.mjs")).measureHeap() });
      return;
    }
    process.send({ cost: await measureStream(workloads[label], opens[label], ms) });
  } catch (error) {
    process.send({ error: `${name}, ${label}: ${error.message}` });
  }
});
process.once("disconnect", () => process.exit());
