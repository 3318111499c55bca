import type { Client } from "@langchain/langgraph-sdk";
import type { RunChunk } from "./follow-run.js";

type Status = "pending" | "running" | "success" | "error" | "interrupted";

/** A LangGraph server in memory, with one thread and at most one run, as far as connect() asks it. */
export interface StubServer {
  readonly client: Client;
  /** Every join of the run's stream, by the position that it asked for. */
  readonly joins: string[];
  readonly cancelled: string[];
  status: Status;
  state: object;
}

interface StubOptions {
  readonly run?: { readonly run_id: string; readonly kwargs?: object };
  readonly state?: object;
  /** What a join gives, by how many came before; a thrown error is a broken connection. */
  stream?(joined: number, signal: AbortSignal | undefined): AsyncGenerator<RunChunk>;
  /** After each list of runs. */
  listed?(stub: StubServer): void;
  /** Throws while the server is away. */
  reach?(): void;
}

export const JOINABLE = { resumable: true, stream_mode: ["events", "values"] };

export function stubServer({ run, state = {}, stream, listed, reach }: StubOptions = {}): StubServer {
  const stub: StubServer = {
    joins: [],
    cancelled: [],
    status: "running",
    state: { values: {}, next: [], tasks: [], checkpoint: { checkpoint_id: "1" }, ...state },
    // A stand-in for what is asked of it; the SDK's client has no interface to implement.
    client: {
      assistants: {
        search: async () => [{ assistant_id: "a", graph_id: "graph" }],
        getSchemas: async () => ({}),
        getGraph: async () => ({ nodes: [{ id: "agent" }], edges: [] }),
      },
      threads: { getState: async () => stub.state, get: async () => ({ thread_id: "t" }) },
      runs: {
        list: async (_: string, { status }: { status: Status }) => {
          const found =
            run !== undefined && stub.status === status ? [{ ...run, status, created_at: "2026-01-01" }] : [];
          listed?.(stub);
          return found;
        },
        get: async () => {
          reach?.();
          return { ...run, status: stub.status };
        },
        cancel: async (_: string, runId: string) => void stub.cancelled.push(runId),
        joinStream: (_: string, __: string, options: { lastEventId: string; signal?: AbortSignal }) => {
          stub.joins.push(options.lastEventId);
          return stream?.(stub.joins.length - 1, options.signal);
        },
        stream: (_: string, __: string, payload: { onRunCreated(run: object): void }) => {
          payload.onRunCreated({ run_id: "server-run", thread_id: "t" });
          return stream?.(0, undefined);
        },
      },
    } as unknown as Client,
  };
  return stub;
}
