import { relative } from "node:path";
import type { CreatedProject } from "./create-project.js";

/** The commands for a person to type after a project was made. */
export function nextSteps({ folder, name }: CreatedProject, cwd: string): string {
  const path = relative(cwd, folder);
  return [
    `✓ made ${name}: a graph, its server and a page`,
    "",
    ...(path === "" ? [] : [`  cd ${/\s/.test(path) ? `'${path}'` : path}`]),
    "  npm install",
    "  npm start      the page, the service and the console; edit src/agent.ts while it runs",
    "  npm test       starts the service and asks it",
    "",
  ].join("\n");
}
