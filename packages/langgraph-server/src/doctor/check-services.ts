import { loadProjectGraphs } from "@throughline/graph-executor";
import { findRedisProblems, type RedisProblem } from "@throughline/thread-log";
import type { ServerConfig } from "../config/read-config.js";
import { type Finding, fail, ok, warn } from "./finding.js";

const PATIENCE_MS = 5_000;

/** Redis is a convenience: whatever is wrong with it, the service runs, and this says what it does without. */
export async function checkRedis(url: string | undefined): Promise<readonly Finding[]> {
  if (url === undefined) return [ok("redis", "Not used; PostgreSQL tells instances what to read.")];
  const problems = await findRedisProblems(url);
  if (problems.length === 0) return [ok("redis", "It answers and carries messages.")];
  return problems.map(({ kind, says }) =>
    warn(
      "redis",
      `${says} Until then each instance reads from PostgreSQL and counts limits for itself.`,
      FIXES[kind],
    ),
  );
}

const FIXES: Readonly<Record<RedisProblem["kind"], string>> = {
  unreachable: 'Start it, or correct REDIS_URL: redis-cli -u "$REDIS_URL" ping',
  replica: "Name the primary in REDIS_URL, alone or beside its replicas with commas between.",
  forbidden:
    "Correct the user and password in REDIS_URL, or allow it &throughline:* ~throughline:* +@pubsub +@scripting +@read +@write.",
};

export async function checkLitellm({ billing }: ServerConfig): Promise<Finding> {
  if (!billing) return ok("litellm", "Not set. Graphs call their own models.");
  const { baseUrl, serviceKey } = billing;
  const answer = await fetch(`${baseUrl.replace(/\/+$/, "")}/models`, {
    headers: { authorization: `Bearer ${serviceKey}` },
    signal: AbortSignal.timeout(PATIENCE_MS),
  }).catch(() => undefined);
  if (!answer) {
    return fail("litellm", `Nothing answers at ${baseUrl}.`, "Start the proxy, or correct LITELLM_BASE_URL.");
  }
  if (answer.ok) return ok("litellm", `It answers at ${baseUrl}.`);
  if (answer.status === 401 || answer.status === 403)
    return fail("litellm", "It answers and refuses LITELLM_API_KEY.", "Set LITELLM_API_KEY to a valid key.");
  return warn(
    "litellm",
    `It answers with ${answer.status}.`,
    "Check LITELLM_BASE_URL: it should end where /models follows.",
  );
}

export async function checkGraphs({ backend }: ServerConfig, project: string | undefined): Promise<Finding> {
  if (backend.kind !== "inproc") {
    const variable = backend.kind === "dev" ? "LANGGRAPH_DEV_URL" : "LANGGRAPH_SERVER_URL";
    const answer = await fetch(new URL("/ok", backend.url), {
      signal: AbortSignal.timeout(PATIENCE_MS),
    }).catch(() => undefined);
    return answer?.ok
      ? ok("graphs", `A LangGraph server answers at ${backend.url}.`)
      : fail("graphs", `No LangGraph server answers at ${backend.url}.`, `Start it, or correct ${variable}.`);
  }
  if (project === undefined) {
    return fail(
      "graphs",
      "There is no langgraph.json here.",
      "Name one with --config, or make a project: npm create throughline",
    );
  }
  try {
    const warnings: string[] = [];
    const source = await loadProjectGraphs(project, { onWarning: (sentence) => warnings.push(sentence) });
    const said = `Of ${project}: ${(await source.list()).map(({ graphName }) => graphName).join(", ")}.`;
    return warnings.length > 0
      ? warn(
          "graphs",
          `${said} ${warnings.join(" ")}`,
          "Remove what has no effect, or name it in throughline.ignore.",
        )
      : ok("graphs", said);
  } catch (error) {
    const said = error instanceof Error ? error.message : String(error);
    return fail("graphs", said, "Correct the file it names.");
  }
}
