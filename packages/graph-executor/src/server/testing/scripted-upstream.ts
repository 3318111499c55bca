import { createServer, type ServerResponse } from "node:http";

/** One connection to the run's stream: what is sent, and how it ends. */
export interface StreamScript {
  readonly events: readonly (readonly [id: number | undefined, event: string, data: unknown])[];
  readonly ending: "close" | "cut" | "stay" | { readonly status: number };
}

export interface UpstreamScript {
  /** The run's status now; `undefined` once the server does not know the run. */
  readonly status: () => string | undefined;
  /** Called for each join, with the `Last-Event-ID` it came with. */
  readonly join: (lastEventId: string, joins: number) => StreamScript;
  readonly onCancel?: () => void;
  readonly checkpointId?: () => string;
}

export interface ScriptedUpstream {
  readonly url: string;
  /** Method and path of each request, in order. */
  readonly requests: readonly string[];
  close(): Promise<void>;
}

/** A LangGraph server of one run, as well behaved or as broken as a test wants it. */
export async function startScriptedUpstream(script: UpstreamScript): Promise<ScriptedUpstream> {
  const requests: string[] = [];
  let joins = 0;
  const server = createServer((request, response) => {
    const path = request.url ?? "";
    requests.push(`${request.method} ${path}`);
    if (path.includes("/stream")) {
      const { events, ending } = script.join(String(request.headers["last-event-id"]), ++joins);
      return play(response, events, ending);
    }
    if (path.includes("/cancel")) {
      script.onCancel?.();
      return void response.writeHead(202).end();
    }
    if (path.includes("/state")) {
      const checkpoint = { thread_id: "t", checkpoint_ns: "", checkpoint_id: script.checkpointId?.() };
      return json(response, { values: {}, next: [], tasks: [], metadata: {}, checkpoint });
    }
    const status = script.status();
    if (status === undefined) return void response.writeHead(404).end("Run not found");
    json(response, { run_id: "r", thread_id: "t", status, metadata: {} });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  return {
    url: `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}`,
    requests,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function play(
  response: ServerResponse,
  events: StreamScript["events"],
  ending: StreamScript["ending"],
): void {
  if (typeof ending === "object") return void response.writeHead(ending.status).end();
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.flushHeaders();
  for (const [id, event, data] of events) {
    const line = id === undefined ? "" : `id: ${id}\n`;
    response.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n${line}\n`);
  }
  if (ending === "close") response.end();
  // Only once what was written is on its way.
  if (ending === "cut") setImmediate(() => response.destroy());
}

function json(response: ServerResponse, body: unknown): void {
  response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(body));
}
