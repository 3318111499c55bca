import { existsSync } from "node:fs";
import { statfs } from "node:fs/promises";
import { createServer } from "node:net";
import { dirname, resolve } from "node:path";
import { loadProjectGraphs } from "@throughline/graph-executor";
import { findRedisProblems, type RedisProblem } from "@throughline/thread-log";
import { isLoopbackHost } from "../../accounts/callers.js";
import type { JwtTrust } from "../../accounts/jwt-caller.js";
import {
  readStartConfig,
  type ServerConfig,
  type StartConfig,
  type StartContext,
} from "../../settings/server-config.js";
import { checkDatabase } from "./check-database.js";
import { type Finding, fail, ok, warn } from "./finding.js";

/** Checks everything the server needs. Yields one finding after the other, so that a slow check does not hide those before it. */
export async function* examine(started: StartContext): AsyncGenerator<Finding> {
  yield checkNode(process.versions.node);
  let effective: StartConfig;
  try {
    effective = readStartConfig(started);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    yield fail("settings", message, "Correct it; docs/configuration.md lists every setting.");
    return;
  }
  const { config, project } = effective;
  yield ok("settings", "All of them can be read.");
  yield checkSignIn(config);
  yield await checkPort(config.host, config.port);
  yield await checkDisk(resolve(started.cwd, config.dataDir ?? ".throughline"));
  yield* await checkDatabase(config);
  yield* await checkRedis(config.redisUrl);
  yield await checkLitellm(config);
  yield await checkGraphs(config, project);
}

function checkSignIn({ host, signIn }: ServerConfig): Finding {
  if (signIn.kind === "jwt") return checkTrust(signIn);
  if (isLoopbackHost(host)) return ok("sign-in", "Sign-in is off; only this machine can ask.");
  return fail(
    "sign-in",
    `Sign-in is off, and ${host} can be reached by others.`,
    "Set THROUGHLINE_JWT_SECRET or THROUGHLINE_JWKS_URL, or THROUGHLINE_HOST=127.0.0.1.",
  );
}

function checkTrust({ keys, issuer, audience }: JwtTrust): Finding {
  const from = issuer === undefined ? "" : ` of ${issuer}`;
  const meant = audience === undefined ? "" : ` for ${audience}`;
  const message = `Callers must bring a signed token${from}${meant}.`;
  if (!("jwksUrl" in keys) || keys.jwksUrl.protocol === "https:") return ok("sign-in", message);
  return warn("sign-in", `${message} Its keys are read over http.`, "Use https:// outside tests.");
}

export function checkNode(version: string): Finding {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  if (major > 20 || (major === 20 && minor >= 19)) return ok("node", `Node ${version}.`);
  return fail("node", `Node ${version} is too old.`, "Install Node 20.19 or newer from https://nodejs.org.");
}

const FEW_BYTES = 1_000_000_000;
const TOO_FEW_BYTES = 200_000_000;

/** Checks the file system that holds the data, or will. */
export async function checkDisk(folder: string): Promise<Finding> {
  let nearest = resolve(folder);
  while (!existsSync(nearest) && nearest !== dirname(nearest)) nearest = dirname(nearest);
  const { bavail, bsize } = await statfs(nearest);
  const free = bavail * bsize;
  const message = `${(free / 1e9).toFixed(1)} GB are free at ${nearest}.`;
  if (free < TOO_FEW_BYTES)
    return fail("disk", message, "Make room, or set THROUGHLINE_DATA_DIR to a folder on another disk.");
  return free < FEW_BYTES
    ? warn("disk", message, "Make room soon: a database that can't write stops.")
    : ok("disk", message);
}

export async function checkPort(host: string, port: number | undefined): Promise<Finding> {
  const wanted = port ?? 8_000;
  const problem = await new Promise<NodeJS.ErrnoException | undefined>((done) => {
    const server = createServer();
    server.once("error", done);
    server.listen(wanted, host, () => server.close(() => done(undefined)));
  });
  if (!problem) return ok("port", wanted === 0 ? "Any free one." : `${host}:${wanted} is free.`);
  if (problem.code === "EADDRINUSE" && (await isOurs(host, wanted))) {
    return ok("port", `A Throughline server answers at ${host}:${wanted} already.`);
  }
  if (problem.code === "EADDRINUSE" && port === undefined) {
    return ok("port", `${host}:${wanted} is taken by something else; the next free one will be used.`);
  }
  const message = `${host}:${wanted} can't be listened on (${problem.code ?? problem.message}).`;
  return fail("port", message, "Choose another one: PORT=8001, or --port 8001.");
}

async function isOurs(host: string, port: number): Promise<boolean> {
  const address = host.includes(":") ? `[${host}]` : host;
  try {
    const answer = await fetch(`http://${address}:${port}/health`, { signal: AbortSignal.timeout(2_000) });
    return answer.headers.has("x-request-id");
  } catch {
    return false;
  }
}

const PATIENCE_MS = 5_000;

/** Checks Redis, which is optional: a finding names what the service does without it. */
export async function checkRedis(url: string | undefined): Promise<readonly Finding[]> {
  if (url === undefined) return [ok("redis", "Not used; PostgreSQL tells instances what to read.")];
  const problems = await findRedisProblems(url);
  if (problems.length === 0) return [ok("redis", "It answers and carries messages.")];
  return problems.map(({ kind, message }) =>
    warn(
      "redis",
      `${message} Until then each instance reads from PostgreSQL and counts limits for itself.`,
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
    const message = `Of ${project}: ${(await source.list()).map(({ graphName }) => graphName).join(", ")}.`;
    return warnings.length > 0
      ? warn(
          "graphs",
          `${message} ${warnings.join(" ")}`,
          "Remove what has no effect, or name it in throughline.ignore.",
        )
      : ok("graphs", message);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return fail("graphs", message, "Correct the file it names.");
  }
}
