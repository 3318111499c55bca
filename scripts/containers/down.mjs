// @ts-check
import { readOptions } from "../read-options.mjs";
import { runStep } from "../steps.mjs";
import { openCompose } from "./compose.mjs";
import { readEnvironment } from "./environment.mjs";
import { findEngine } from "./find-engine.mjs";
import { stopNative } from "./native/native-process.mjs";

const { volumes = false } = readOptions(
  [
    "npm run langgraph:down",
    "",
    "Stops what langgraph:up started, native or in containers. Data stays.",
    "",
    "  --volumes   deletes the data, too",
  ].join("\n"),
  { volumes: { type: "boolean" } },
);
await runStep(
  async () => {
    const wasNative = await stopNative({ deleteData: volumes });
    const engine = wasNative ? undefined : await findEngine();
    if (engine) await openCompose(engine, { env: readEnvironment().env }).down({ volumes });
    return { stopped: wasNative || engine !== undefined };
  },
  ({ stopped }) => ({ changed: stopped, text: stopped ? "stopped" : "nothing runs" }),
  { doing: "stopping" },
);
