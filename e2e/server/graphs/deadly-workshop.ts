import type { GraphRunRequest, UpstreamChunk } from "@throughline/ai-core";
import { read, readString } from "@throughline/coerce";
import {
  createInProcProvider,
  createPostgresCheckpointer,
  type GraphProvider,
} from "@throughline/graph-executor";
import { createPostgresRunRegistry, openPostgres } from "@throughline/thread-log";
import { workshopGraphs } from "./workshop-graphs.js";

/** What a run may be told, in its message or its answer. */
const ORDER = /die (?:after chunk (\d+)|at (start|token|tool|nested|question))/;

type Moment = (chunk: UpstreamChunk) => boolean;

const MOMENTS: Readonly<Record<string, Moment>> = {
  token: ({ mode, data }) => mode === "messages" && textOf(data) !== "",
  tool: ({ mode, data }) => mode === "tools" && readString(data, "event") === "on_tool_start",
  nested: ({ ns, mode, data }) => mode === "messages" && ns.length > 2 && textOf(data) !== "",
  question: ({ mode, data }) => mode === "updates" && read(data, "__interrupt__") !== undefined,
};
/** Tokens that pass before the one that kills, so that subscribers have seen some. */
const SEEN_TOKENS = 4;

function textOf(data: unknown): string {
  const [message]: readonly unknown[] = Array.isArray(data) ? data : [];
  return readString(message, "content") ?? "";
}

/** As a power cut would. */
const die = () => process.kill(process.pid, "SIGKILL");

async function* until(
  stream: AsyncIterable<UpstreamChunk>,
  order: RegExpExecArray,
): AsyncGenerator<UpstreamChunk> {
  const [, number, name = ""] = order;
  if (name === "start") die();
  const isMoment = MOMENTS[name];
  let index = 0;
  let tokens = 0;
  for await (const chunk of stream) {
    if (isMoment?.(chunk) && (name !== "token" || ++tokens > SEEN_TOKENS)) die();
    yield chunk;
    if (String(index++) === number) die();
  }
}

/** Orders are for first attempts: an instance that recovers the run may live. */
function orderOf({ start, attempt }: GraphRunRequest): RegExpExecArray | null {
  const told = start.kind === "input" ? start.messages : start.kind === "resume" ? start.answers : {};
  return attempt === 0 ? ORDER.exec(JSON.stringify(told)) : null;
}

/** A provider whose runs may end its process: before they begin, after a chunk by number, or at a moment. */
function deadly(provider: GraphProvider): GraphProvider {
  return {
    ...provider,
    runGraph(request) {
      const { stream, final } = provider.runGraph(request);
      const order = orderOf(request);
      return { stream: order ? until(stream, order) : stream, final };
    },
  };
}

const {
  LANGGRAPH_DATABASE_URL = "",
  WORKSHOP_FOLDER = "",
  THROUGHLINE_OFFLINE_PACE_MS,
  WORKSHOP_TOOL_MS,
} = process.env;
const checkpointer = createPostgresCheckpointer({ connectionString: LANGGRAPH_DATABASE_URL });
const database = await openPostgres({ connection: LANGGRAPH_DATABASE_URL });
await checkpointer.setup();

export default deadly(
  createInProcProvider({
    graphs: workshopGraphs({
      folder: WORKSHOP_FOLDER,
      paceMs: Number(THROUGHLINE_OFFLINE_PACE_MS ?? 0),
      toolMs: Number(WORKSHOP_TOOL_MS ?? 0),
    }),
    checkpointer: checkpointer.saver,
    lease: createPostgresRunRegistry(database),
  }),
);
