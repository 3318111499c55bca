import { CLIENT_SETTINGS } from "@throughline/langgraph-server/settings";
import { defineCommand } from "../command.js";
import { followThread, SHARED_OPTION } from "../follow-thread.js";
import { checkStopped } from "../say-outcome.js";
import { serverClient } from "../server-client.js";

export const stopCommand = defineCommand({
  name: "stop",
  summary: "Stops the run that is open in a thread",
  usage: "AGENT THREAD",
  help: "Viewers of the thread see that it was stopped.\n\n  throughline stop poet rivers",
  settings: CLIENT_SETTINGS,
  words: { min: 2, max: 2 },
  options: {
    ...SHARED_OPTION,
    json: { type: "boolean", doc: "whether a run was stopped, and which, as JSON" },
  },
  async run(input) {
    const { terminal, values, positionals } = input;
    const [agent = "", thread = ""] = positionals;
    const { handle, told, close } = followThread(serverClient(input), {
      agent,
      thread,
      isShared: values.shared,
    });
    try {
      await told;
      const { run } = handle.getSnapshot().view;
      const open = run?.status === "running" ? run : undefined;
      // Also where none is seen: one may just begin.
      checkStopped(await handle.stop());
      if (values.json)
        terminal.print(`${JSON.stringify({ stopped: open !== undefined, runId: open?.serviceRunId })}\n`);
      else terminal.print(open ? "Stopped.\n" : "No run is open in this thread.\n");
      return 0;
    } finally {
      close();
    }
  },
});
