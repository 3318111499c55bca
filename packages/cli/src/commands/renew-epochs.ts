import { PLACE_SETTINGS } from "@throughline/langgraph-server/settings";
import { defineCommand } from "../command.js";
import { effectiveSettings } from "../effective-settings.js";

const { databaseUrl, databaseDirectUrl, dataDir } = PLACE_SETTINGS;

export const renewEpochsCommand = defineCommand({
  name: "renew-epochs",
  summary: "After a restore that the service can't notice: makes positions that were lost invalid",
  usage: "",
  help: [
    "A restored dump, a recovery to a point in time and a promoted replica are noticed by themselves. A volume that was put back in",
    "place is not: say so with this command, once, before the first instance starts on it. Viewers who saw more than the backup",
    "holds are then shown the thread anew; all others go on where they were.",
    "",
    "  throughline renew-epochs",
  ].join("\n"),
  settings: { databaseUrl, databaseDirectUrl, dataDir },
  words: { min: 0, max: 0 },
  options: {},
  async run(input) {
    const { config } = await effectiveSettings(input);
    const { renewAllEpochs } = await import("@throughline/langgraph-server/admin");
    const threads = await renewAllEpochs(config);
    input.terminal.print(`Renewed the epochs of ${threads} ${threads === 1 ? "thread" : "threads"}.\n`);
    return 0;
  },
});
