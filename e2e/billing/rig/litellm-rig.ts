import { readFileSync } from "node:fs";
import { type LaunchedLitellm, launchLitellm, type RigKeys } from "../../../scripts/launch-litellm.mjs";
import { type OpenAiUpstream, startOpenAiUpstream } from "../../../scripts/openai-upstream.mjs";

export const SERVICE_KEY = "sk-service-rig";

/** Tokens by account. `forged` names a key that LiteLLM does not know. */
export const TOKENS: Readonly<Record<string, string>> = {
  ann: "sk-tenant-ann",
  bob: "sk-tenant-bob",
  only: "sk-tenant-only",
  broke: "sk-tenant-broke",
  forged: "sk-tenant-forged",
};

/** As `LITELLM_VIRTUAL_KEYS` names them: `vk-ann` is ann's alone. */
export const VIRTUAL_KEYS = JSON.stringify(
  Object.fromEntries(Object.entries(TOKENS).map(([account, token]) => [`vk-${account}`, { token, account }])),
);

const RIG_KEYS: RigKeys = {
  [SERVICE_KEY]: { alias: "service" },
  "sk-tenant-ann": { alias: "vk-ann", account: "ann" },
  "sk-tenant-bob": { alias: "vk-bob", account: "bob" },
  "sk-tenant-only": { alias: "vk-only", account: "only", models: ["cheap", "flaky"] },
  "sk-tenant-broke": { alias: "vk-broke", account: "broke" },
};

/** A line of the logger, as the proxy wrote it. */
export interface LoggedCall {
  readonly status: string;
  readonly call_id: string;
  readonly key_hash: string;
  readonly spend: number;
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly model_group: string;
  readonly labels: Readonly<Record<string, unknown>>;
}

export interface LitellmRig {
  readonly litellm: LaunchedLitellm;
  readonly upstream: OpenAiUpstream;
  /** What LiteLLM recorded: of one run, or of all. */
  logged(runId?: string): readonly LoggedCall[];
  stop(): Promise<void>;
}

/** A real LiteLLM in front of an upstream of ours, without a database unless one is given. */
export async function startLitellmRig(database?: { readonly databaseUrl: string }): Promise<LitellmRig> {
  const upstream = await startOpenAiUpstream();
  const litellm = await launchLitellm({ upstream: upstream.url, ...(database ?? { keys: RIG_KEYS }) });
  return {
    litellm,
    upstream,
    logged(runId) {
      const lines = readFileSync(litellm.spendLog, "utf8").split("\n").filter(Boolean);
      const calls = lines.map((line): LoggedCall => JSON.parse(line));
      return runId === undefined ? calls : calls.filter(({ labels }) => labels.runId === runId);
    },
    async stop() {
      await Promise.all([litellm.stop(), upstream.stop()]);
    },
  };
}

/** What a logged call cost, exactly. */
export function spendOf(calls: readonly Pick<LoggedCall, "spend">[]): bigint {
  return calls.reduce((sum, { spend }) => sum + BigInt(Math.round(spend * 1e12)), 0n);
}
