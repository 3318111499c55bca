import { loadProjectGraphs } from "@throughline/graph-executor";
import { LANGGRAPH_CATALOG } from "@throughline/langgraph-graphs";
import { findRedisProblems } from "@throughline/thread-log";
import type { ServerConfig } from "../../config/read-config.js";
import { type Finding, fail, ok, warn } from "./finding.js";

const PATIENCE_MS = 5_000;

export async function checkRedis(url: string | undefined): Promise<readonly Finding[]> {
  if (url === undefined) return [ok("redis", "Not used; the log is in PostgreSQL.")];
  const problems = await findRedisProblems(url);
  if (problems.length === 0) return [ok("redis", "It answers, keeps what it is given, and evicts nothing.")];
  return problems.map((problem) => {
    if (problem.includes("does not tell")) return warn("redis", problem, "Ask whoever hosts it.");
    const fix = problem.includes("appendonly")
      ? "redis-cli config set appendonly yes, and the same in redis.conf"
      : problem.includes("maxmemory-policy")
        ? "redis-cli config set maxmemory-policy noeviction, and the same in redis.conf"
        : 'Start it, or correct REDIS_URL: redis-cli -u "$REDIS_URL" ping';
    return fail("redis", problem, fix);
  });
}

export async function checkLitellm({ litellmBaseUrl, litellmApiKey }: ServerConfig): Promise<Finding> {
  if (litellmBaseUrl === undefined) return ok("litellm", "Not set; the offline model answers.");
  const headers = litellmApiKey === undefined ? {} : { authorization: `Bearer ${litellmApiKey}` };
  const models = `${litellmBaseUrl.replace(/\/+$/, "")}/models`;
  const answer = await fetch(models, { headers, signal: AbortSignal.timeout(PATIENCE_MS) }).catch(
    () => undefined,
  );
  if (!answer)
    return fail(
      "litellm",
      `Nothing answers at ${litellmBaseUrl}.`,
      "Start the proxy, or correct LITELLM_BASE_URL.",
    );
  if (answer.ok) return ok("litellm", `It answers at ${litellmBaseUrl}.`);
  if (answer.status === 401 || answer.status === 403) {
    return litellmApiKey === undefined
      ? warn(
          "litellm",
          "It answers and wants a key; runs that name none will be refused.",
          "Set LITELLM_API_KEY.",
        )
      : fail("litellm", "It answers and refuses LITELLM_API_KEY.", "Set LITELLM_API_KEY to a valid key.");
  }
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
    return ok(
      "graphs",
      `The six that come along: ${LANGGRAPH_CATALOG.map(({ graphName }) => graphName).join(", ")}.`,
    );
  }
  try {
    const graphs = await (await loadProjectGraphs(project)).list();
    return ok("graphs", `Of ${project}: ${graphs.map(({ graphName }) => graphName).join(", ")}.`);
  } catch (error) {
    const said = error instanceof Error ? error.message : String(error);
    return fail("graphs", said, "Correct the file it names.");
  }
}
