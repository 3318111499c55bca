import type { Serving } from "@throughline/langgraph-server/admin";
import type { Paint } from "./transcript/span.js";

/** What a person who has just started a server wants to know: where it is, and what to type next. */
export function welcome(url: string, agents: readonly string[], paint: Paint): string {
  const names = agents.map((id) => id.replace(/^langgraph:/, ""));
  const agent = names.includes("poet") ? "poet" : (names[0] ?? "AGENT");
  const post = (path: string, body: object) =>
    `curl -sN ${url}/api/copilotkit/agent/${agent}${path} -H 'content-type: application/json' -d '${JSON.stringify(body)}'`;
  const thread = { threadId: "rivers" };
  return [
    "",
    `  ${paint({ tone: "strong", text: url })}`,
    `  agents: ${names.join(", ")}`,
    "",
    "  Try next, in another terminal. Watch a thread:",
    `    ${post("/connect?follow=true", thread)}`,
    "  Run the agent in it:",
    `    ${post("/run", { ...thread, messages: [{ role: "user", content: "a line about rivers" }] })}`,
    "  Stop it half-way:",
    `    ${post("/stop/rivers", {})}`,
    "  The same for people:",
    `    npx throughline watch ${agent} rivers --url ${url}`,
    "",
    paint({ tone: "dim", text: "  Ctrl-C stops everything." }),
    "",
  ].join("\n");
}

/** The same where a console runs: its address comes first, because it is where a person goes next. */
export function consoleWelcome(
  consoleUrl: string,
  { url, agents }: Serving,
  paint: Paint,
  more = `\n  service   ${url}\n`,
): string {
  const names = agents.map((id) => id.replace(/^langgraph:/, ""));
  return [
    "",
    `  console   ${paint({ tone: "strong", text: consoleUrl })}`,
    `  agents    ${names.join(", ")}`,
    more.replace(/^\n|\n$/g, ""),
    "",
    paint({ tone: "dim", text: "  Ctrl-C stops everything." }),
    "",
  ].join("\n");
}
