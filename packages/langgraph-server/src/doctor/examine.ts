import { resolve } from "node:path";
import type { ServerConfig } from "../config/read-config.js";
import { type EffectiveSettings, effectiveSettings, type StartedWith } from "../serve/effective-settings.js";
import type { JwtTrust } from "../tenancy/jwt-caller.js";
import { isLoopbackHost } from "../tenancy/loopback.js";
import { checkDatabase } from "./check-database.js";
import { checkDisk, checkNode, checkPort } from "./check-machine.js";
import { checkGraphs, checkLitellm, checkRedis } from "./check-services.js";
import { type Finding, fail, ok, warn } from "./finding.js";

/** Everything the server needs, one finding after the other, so that a slow check does not hide those before it. */
export async function* examine(started: StartedWith): AsyncGenerator<Finding> {
  yield checkNode(process.versions.node);
  let effective: EffectiveSettings;
  try {
    effective = effectiveSettings(started);
  } catch (error) {
    const said = error instanceof Error ? error.message : String(error);
    yield fail("settings", said, "Correct it; docs/configuration.md lists every setting.");
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
  const said = `Callers must bring a signed token${from}${meant}.`;
  if (!("jwksUrl" in keys) || keys.jwksUrl.protocol === "https:") return ok("sign-in", said);
  return warn("sign-in", `${said} Its keys are read over http.`, "Use https:// outside tests.");
}
