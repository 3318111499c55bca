// @ts-check
import { randomBytes } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../workspace-packages.mjs";

const EXAMPLE = join(root, ".env.local.example");
const FILE = join(root, ".env.local");

/** The account that `langgraph:up` makes a token for. */
export const DEV_ACCOUNT = "dev";

/**
 * `NAME=value` lines. Quotes around a value are dropped; comments and anything else are passed over.
 *
 * @param {string} text
 * @returns {Record<string, string>}
 */
export function parseEnvironment(text) {
  const pairs = [...text.matchAll(/^[ \t]*([A-Za-z_]\w*)=(.*)$/gm)];
  return Object.fromEntries(
    pairs.map(([, name = "", value = ""]) => [name, value.trim().replace(/^(["'])(.*)\1$/, "$2")]),
  );
}

/**
 * The example with a secret of its own for each variable that needs one.
 *
 * @param {string} example
 * @param {() => string} secret
 */
export function fillSecrets(example, secret = () => randomBytes(24).toString("hex")) {
  const masterKey = `sk-${secret()}`;
  /** @type {Readonly<Record<string, string>>} */
  const values = {
    POSTGRES_PASSWORD: secret(),
    LITELLM_MASTER_KEY: masterKey,
    // A LiteLLM without a database knows its master key alone.
    LITELLM_VIRTUAL_KEYS: JSON.stringify({ [DEV_ACCOUNT]: masterKey }),
    THROUGHLINE_JWT_SECRET: secret(),
  };
  return example.replace(/^([A-Z_]+)=$/gm, (line, name) => `${line}${values[name] ?? ""}`);
}

/**
 * What compose reads: `.env.local`, which is made at the first start, below the process's own environment. Variables that
 * neither sets are there all the same, empty: podman-compose can't read an empty default.
 *
 * @returns {{ env: NodeJS.ProcessEnv; created: boolean }}
 */
export function readEnvironment() {
  const example = readFileSync(EXAMPLE, "utf8");
  const created = !existsSync(FILE);
  if (created) writeFileSync(FILE, fillSecrets(example), { mode: 0o600 });
  const file = parseEnvironment(readFileSync(FILE, "utf8"));
  return { env: { ...parseEnvironment(example), ...file, ...process.env }, created };
}
