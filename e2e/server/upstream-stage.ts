import { Client } from "@langchain/langgraph-sdk";
import { deriveThreadId } from "@throughline/ai-core";
import { startUpstreamServer, type UpstreamServer } from "../executor/upstream-server.js";
import { type AgentRoutes, agentRoutes } from "./rig/agent-routes.js";
import { type RigPostgres, startPostgres } from "./rig/start-postgres.js";
import { type RigServer, type RigServerOptions, startServer } from "./rig/start-server.js";
import { type AnyMessage, messageLines } from "./stock/message-lines.js";

const CATALOG = new URL("../../packages/langgraph-graphs/langgraph.json", import.meta.url);

/** One instance of the service in front of the stage's upstream. */
export interface Instance {
  readonly server: RigServer;
  readonly routes: AgentRoutes;
}

/** A real `langgraph dev` with the six graphs, and instances of the service whose backend it is. */
export interface UpstreamStage {
  readonly upstream: UpstreamServer;
  /** A client that knows the upstream and nothing of us. */
  readonly outsider: Client;
  /** Instances that share a database are one service. */
  start(databaseUrl: string, options?: Partial<RigServerOptions>): Promise<Instance>;
  createDatabase(): Promise<string>;
  /** The conversation as the upstream's checkpoint holds it. */
  checkpointed(upstreamThreadId: string): Promise<readonly string[]>;
  stop(): Promise<void>;
}

/** `paceMs`: between two tokens of the offline model, so that a run can be caught in the middle. */
export async function setUpstreamStage({ paceMs }: { readonly paceMs: number }): Promise<UpstreamStage> {
  const [upstream, postgres]: [UpstreamServer, RigPostgres] = await Promise.all([
    startUpstreamServer({ project: CATALOG, env: { THROUGHLINE_OFFLINE_PACE_MS: String(paceMs) } }),
    startPostgres(),
  ]);
  const outsider = new Client({ apiUrl: upstream.url, apiKey: null });
  const servers: RigServer[] = [];
  return {
    upstream,
    outsider,
    async start(databaseUrl, options = {}) {
      const server = await startServer({
        databaseUrl,
        leaseMs: 2_000,
        reapEveryMs: 300,
        ...options,
        env: { LANGGRAPH_DEV_URL: upstream.url, ...options.env },
      });
      servers.push(server);
      return { server, routes: agentRoutes(server.url) };
    },
    createDatabase: () => postgres.createDatabase(),
    async checkpointed(threadId) {
      const { values } = await outsider.threads.getState<{ messages: UpstreamMessage[] }>(threadId);
      return messageLines(
        values.messages.map((message) => ({ ...message, role: ROLES[message.type] ?? message.type })),
      );
    },
    async stop() {
      await Promise.all(servers.map((server) => server.stop()));
      await Promise.all([upstream.stop(), postgres.stop()]);
    },
  };
}

type UpstreamMessage = Omit<AnyMessage, "role"> & { readonly type: string };
const ROLES: Readonly<Record<string, string>> = { human: "user", ai: "assistant" };

/** What a thread of the dev account is called upstream. */
export function upstreamThreadId(graphName: string, threadName: string): string {
  return deriveThreadId({ account: "dev", graphName, threadName });
}
