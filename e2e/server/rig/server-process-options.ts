/** What a server process is told beside its environment. */
export interface ServerProcessOptions {
  /** A module whose default export is a `GraphSource` or a `GraphProvider`; without it those of the LangGraph server that the environment names. */
  readonly graphs?: string;
  /** What an operator declares of a LangGraph server's graphs. */
  readonly declared?: readonly { readonly graphName: string; readonly contextKeys?: readonly string[] }[];
  readonly leaseMs?: number;
  readonly reapEveryMs?: number;
  readonly maxCrashes?: number;
  readonly instance?: string;
}
