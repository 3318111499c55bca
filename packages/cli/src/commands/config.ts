import { SETTINGS, showSettings } from "@throughline/langgraph-server/settings";
import { defineCommand } from "../command.js";
import { effectiveSettings } from "../effective-settings.js";
import { table } from "../table.js";

export const configCommand = defineCommand({
  name: "config",
  summary: "Prints the settings in effect and where each came from, with secrets masked",
  usage: "",
  help: [
    "Takes the flags of `serve`, and reads the same variables and the same langgraph.json: what it prints is what `serve` would",
    "use. A value that `serve` would refuse is refused here.",
    "",
    "  throughline config",
    "  throughline config --json | jq -r '.[] | select(.origin != \"default\") | .env'",
  ].join("\n"),
  settings: SETTINGS,
  words: { min: 0, max: 0 },
  options: { json: { type: "boolean", doc: "as a JSON array" } },
  async run(input) {
    const { terminal, values } = input;
    const shown = showSettings((await effectiveSettings(input)).settings);
    if (values.json) terminal.print(`${JSON.stringify(shown)}\n`);
    else {
      const rows = shown.map(({ env, value, origin, unset }) => [
        env,
        value ?? `(${unset.replaceAll("`", "")})`,
        origin === "default" ? "" : origin,
      ]);
      terminal.print(table([["SETTING", "VALUE", "FROM"], ...rows]));
    }
    return 0;
  },
});
