export type RigKeys = Readonly<
  Record<string, { alias?: string; account?: string; models?: readonly string[]; over_budget?: boolean }>
>;

export interface LaunchedLitellm {
  readonly url: string;
  /** What `throughline_logger.py` writes. */
  readonly spendLog: string;
  setKeys(keys: RigKeys): void;
  /** After a kill: on the same port, with the same log. */
  start(): Promise<void>;
  kill(): Promise<void>;
  stop(): Promise<void>;
}

/** A LiteLLM proxy in front of an upstream. Without a database its keys are ours to set at any time; with one it has its own. */
export function launchLitellm(options: {
  upstream: string;
  keys?: RigKeys;
  databaseUrl?: string;
}): Promise<LaunchedLitellm>;
