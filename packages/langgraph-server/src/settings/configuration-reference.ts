import type { Setting, SettingGroup } from "./setting.js";
import { SETTINGS } from "./settings.js";

const GROUPS: Readonly<Record<SettingGroup, string>> = {
  address: "Address",
  storage: "Storage",
  graphs: "Graphs",
  models: "Models",
  "sign-in": "Sign-in",
  limits: "Limits",
  running: "Running",
  client: "Commands that talk to a server",
};

/** `docs/configuration.md`. */
export function renderConfigurationReference(): string {
  const sections = Object.entries(GROUPS).map(([group, title]) => {
    const rows = Object.values<Setting>(SETTINGS)
      .filter((setting) => setting.group === group)
      .map((setting) => {
        const flag = setting.flag === undefined ? "none: it is a secret" : `\`--${setting.flag}\``;
        return `| \`${setting.env}\` | ${flag} | ${setting.doc} | ${setting.unset} |`;
      });
    return [
      `## ${title}`,
      "",
      "| variable | flag | meaning | when not set |",
      "| --- | --- | --- | --- |",
      ...rows,
    ].join("\n");
  });
  return `${[
    "<!-- Written by `npm run generate` from the settings in packages/langgraph-server/src/config. -->",
    "# Configuration",
    [
      "Settings are variables of the environment. Most are flags of `throughline serve`, `config` and `doctor` as well; those of the",
      "last table are flags of the commands that talk to a server. A flag wins over a variable, and a variable over the `env` of",
      "a project's `langgraph.json`. An empty variable counts as unset.",
    ].join("\n"),
    [
      "A variable that begins with `THROUGHLINE_` and is not listed here, an unknown flag and a value that can't be read are refused",
      "at start, by name. `throughline config` prints what is in effect and where it came from, with secrets masked.",
    ].join("\n"),
    ...sections,
  ].join("\n\n")}\n`;
}
