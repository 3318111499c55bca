// What a token costs the page, whatever was said before it, and what the page downloads for that.
// For `run.mjs` to say what is missing when nothing is built: the clients are loaded elsewhere.
import "@throughline/agent-client";
import { median } from "../median.mjs";
import { atLeast, atMost } from "../targets.mjs";
import { bundleSize } from "./bundle-size.mjs";
import { BIG_STATE, HISTORIES, historyLabel, workloads } from "./conversation.mjs";
import { startClient } from "./start-client.mjs";

/** Two tabs of ours that share a stream: one reads it and tells the other, which shows the same. */
const LEADER = "leader";
const FOLLOWER = "follower";
const STOCK = { "0.0.59": "@ag-ui/client", "1.0.0": "@ag-ui/client-1" };
/** With all that a page may pass to it: tabs that share, polls, tools of the page. */
const WHOLE = "with every part";
/** Until the engine has compiled what it will compile. */
const WARM_UP_MS = 500;
const TURN_MS = 50;

/** @param {{ quick: boolean, progress: (text: string) => void }} options */
export async function runBench({ quick, progress }) {
  const bundles = await measureBundles();
  progress(
    `Tokens behind ${HISTORIES.join(", ")} messages; the peers are @ag-ui/client ${Object.keys(STOCK).join(" and ")}.`,
  );
  const costs = await measureCosts({ rounds: quick ? 3 : 11, progress });
  const heap = await measureHeap();
  return report(costs, bundles, heap);
}

async function measureHeap() {
  const process = startClient("ours");
  try {
    return await process.measure("heap", 0);
  } finally {
    await process.stop();
  }
}

/** Medians over rounds. Clients take turns at each workload, so that heat and neighbours fall on all alike. */
async function measureCosts({ rounds, progress }) {
  const clients = Object.entries({ ours: "ours", [LEADER]: LEADER, [FOLLOWER]: FOLLOWER, ...STOCK }).map(
    ([client, name]) => ({
      client,
      process: startClient(name),
    }),
  );
  const taken = new Map();
  try {
    for (let round = 0; round <= rounds; round++) {
      for (const label of Object.keys(workloads)) {
        for (const { client, process } of clients) {
          const cost = await process.measure(label, round === 0 ? WARM_UP_MS : TURN_MS);
          const name = nameOf(client, label);
          if (round > 0) taken.set(name, [...(taken.get(name) ?? []), cost]);
        }
      }
      progress(round === 0 ? "  warm" : `  round ${round} of ${rounds}`);
    }
  } finally {
    for (const { process } of clients) await process.stop();
  }
  return new Map([...taken].map(([name, all]) => [name, medianOf(all)]));
}

function medianOf(costs) {
  return { cpu: median(costs.map(({ cpu }) => cpu)), wall: median(costs.map(({ wall }) => wall)) };
}

async function measureBundles() {
  const sizes = {
    ours: await bundleSize('export { createAgentClient } from "@throughline/agent-client";'),
    [WHOLE]: await bundleSize('export { createAgentClient, everyPart } from "@throughline/agent-client";'),
  };
  for (const [version, name] of Object.entries(STOCK))
    sizes[version] = await bundleSize(`export { HttpAgent } from "${name}";`);
  return sizes;
}

function report(costs, bundles, heap) {
  const versions = Object.keys(STOCK);
  const cpu = (client, messages) => costs.get(nameOf(client, historyLabel(messages))).cpu;
  const cpuOf = (client) =>
    Object.fromEntries(
      HISTORIES.map((messages) => [`CPU, ${historyLabel(messages)}`, cpu(client, messages)]),
    );
  return {
    ours: {
      ...sectionOf("ours", "", costs, bundles),
      [`bundle, ${WHOLE}`]: sizeOf(bundles[WHOLE]),
      "µs per token, a tab that leads": cpuOf(LEADER),
      "µs per token, a tab that follows": cpuOf(FOLLOWER),
      "heap, 200 threads opened and left": {
        "bytes before": heap.before,
        "bytes meanwhile": heap.held,
        "bytes after": heap.after,
      },
    },
    peer: Object.assign({}, ...versions.map((version) => sectionOf(version, `${version} `, costs, bundles))),
    targets: [
      ...HISTORIES.map((messages) =>
        atMost(`CPU µs per token, ${historyLabel(messages)}`, cpu("ours", messages), 6),
      ),
      atMost("CPU per token, 1,000 messages over none", cpu("ours", 1_000) / cpu("ours", 0), 1.3),
      ...versions.map((version) =>
        atLeast(
          `CPU per token, 200 messages, ${version} over ours`,
          cpu(version, 200) / cpu("ours", 200),
          30,
        ),
      ),
      atMost(
        "CPU per token, 200 messages, a tab that follows over one that leads",
        cpu(FOLLOWER, 200) / cpu(LEADER, 200),
        1.2,
      ),
      atMost("heap after 200 threads opened and left, over before", heap.after / heap.before, 1.1),
      atMost("bundle without optional parts, gzip bytes", bundles.ours.gzip, 14_000),
      atMost(`bundle ${WHOLE}, gzip bytes`, bundles[WHOLE].gzip, 22_000),
    ],
  };
}

function sectionOf(client, prefix, costs, bundles) {
  const costOf = (label) => {
    const { cpu, wall } = costs.get(nameOf(client, label));
    return { [`CPU, ${label}`]: cpu, [`wall, ${label}`]: wall };
  };
  return {
    [`${prefix}µs per token`]: Object.assign({}, ...HISTORIES.map(historyLabel).map(costOf)),
    [`${prefix}µs per delta`]: costOf(BIG_STATE),
    [`${prefix}bundle`]: sizeOf(bundles[client]),
  };
}

function sizeOf({ gzip, minified }) {
  return { "gzip bytes": gzip, "minified bytes": minified };
}

function nameOf(client, label) {
  return `${client}, ${label}`;
}
