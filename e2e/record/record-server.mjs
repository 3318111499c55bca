// The official dev server with the repository's graphs and the recorder's own: shapes that no catalogue graph has (twin
// interrupts, deep nesting) must be recorded too.
import { rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { startLanggraphDev } from "../../scripts/langgraph-dev.mjs";

const HERE = dirname(fileURLToPath(import.meta.url));
const OWN_GRAPHS = ["several-interrupts", "nested-subgraphs", "parallel-nodes", "painter"];

/** @param {{ log?: boolean }} [options] */
export function startRecordServer({ log = false } = {}) {
  const folder = join(HERE, "../node_modules/.cache/record-server");
  rmSync(folder, { recursive: true, force: true });
  return startLanggraphDev({
    port: 0,
    quiet: !log,
    cwd: folder,
    graphs: Object.fromEntries(OWN_GRAPHS.map((name) => [name, join(HERE, "graphs", `${name}.ts:graph`)])),
    workers: 4,
    env: {
      // A key or a proxy in the environment would turn the recording into a conversation with a real model.
      LITELLM_BASE_URL: "",
      THROUGHLINE_OFFLINE_PACE_MS: "8",
    },
  });
}
