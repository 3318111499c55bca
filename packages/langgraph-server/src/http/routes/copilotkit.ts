import { agentCapabilitySchema, type Json, jsonSchema, ThroughlineError } from "@throughline/ai-core";
import { z } from "zod";
import type { Arrival } from "../../runs/stop-runs.js";
import type { ThreadService } from "../../runs/thread-service.js";
import { parsedJson } from "../bodies.js";
import {
  type App,
  type AuthenticatedRequest,
  type AuthorizedRequest,
  parseBody,
  type RouteContext,
  requireAgent,
} from "../request.js";
import type { Route } from "../route.js";
import { agUiEventSchema } from "../stream-schemas.js";
import { followQuerySchema, lastEventIdHeaders } from "../stream-thread.js";
import { actionOf, connectAgent, type RunParts, runAgent } from "./ag-ui-run.js";
import { parseRunAgentInput } from "./ag-ui-run-input.js";
import { runAgentInputSchema } from "./ag-ui-schema.js";
import { copilotkitThreads, THREAD_ENDPOINTS } from "./copilotkit-threads.js";
import { followRoute } from "./follow.js";
import { stopAgent, stoppedSchema, stopSchema } from "./stop.js";

const SINGLE_ROUTE_METHODS = [
  "info",
  "agent/run",
  "agent/connect",
  "agent/stop",
  "resource/request",
] as const;

const envelopeSchema = z.object({
  method: z.string().describe(`One of ${SINGLE_ROUTE_METHODS.join(", ")}.`),
  params: z
    .object({
      agentId: z.string().optional(),
      threadId: z.string().optional(),
      path: z.string().max(4_096).optional(),
      httpMethod: z.string().optional(),
    })
    .nullish(),
  body: parsedJson.nullish(),
});

/** Native routes for CopilotKit's protocol: one route per request type, and one at the base path for all types in an envelope. */
export function copilotkitRoutes(
  parts: RunParts & App<{ readonly threads: ThreadService }>,
  base: string,
  version: string,
): Route[] {
  const threads = copilotkitThreads(parts);

  async function run(
    c: RouteContext,
    authenticated: AuthenticatedRequest,
    agentId: string,
    read: () => Promise<Json | undefined>,
    arrival: Arrival,
  ) {
    const agent = await requireAgent(parts, agentId);
    const input = parseRunAgentInput(await read(), authenticated.limits.maxContentParts);
    return runAgent(c, parts, authenticated.authorize(actionOf(input)), agent, input, arrival);
  }

  async function connect(
    c: RouteContext,
    who: AuthorizedRequest,
    agentId: string,
    read: () => Promise<Json | undefined>,
  ) {
    const agent = await requireAgent(parts, agentId);
    return connectAgent(c, parts, who, agent, parseRunAgentInput(await read(), who.limits.maxContentParts));
  }

  async function stop(
    c: RouteContext,
    who: AuthorizedRequest,
    names: { readonly agentId: string; readonly threadId: string },
    read: () => Promise<Json | undefined>,
  ) {
    const agent = await requireAgent(parts, names.agentId);
    return stopAgent(c, parts, who, agent, names.threadId, await read());
  }

  async function singleRoute(
    c: RouteContext,
    authenticated: AuthenticatedRequest,
    arrival: Arrival,
  ): Promise<Response> {
    const { method, params, body: inner } = await parseBody(authenticated, envelopeSchema);
    const read = async () => inner ?? undefined;
    const agentId = params?.agentId ?? "";
    switch (method) {
      case "info":
        authenticated.authorize("read");
        return describeRuntime(c, parts, version);
      case "agent/run":
        return run(c, authenticated, agentId, read, arrival);
      case "agent/connect":
        return connect(c, authenticated.authorize("read"), agentId, read);
      case "agent/stop":
        return stop(c, authenticated.authorize("stop"), { agentId, threadId: params?.threadId ?? "" }, read);
      case "resource/request": {
        const [path = "", search = ""] = (params?.path ?? "").split("?", 2);
        const query = Object.fromEntries(new URLSearchParams(search));
        return threads.execute(c, authenticated, {
          method: params?.httpMethod ?? "GET",
          path,
          query,
          body: read,
        });
      }
      default:
        throw new ThroughlineError(
          "not_found",
          `method: there is no such method. There is: ${SINGLE_ROUTE_METHODS.join(", ")}.`,
          { details: { field: "method", known: [...SINGLE_ROUTE_METHODS] } },
        );
    }
  }

  return [
    {
      method: "POST",
      path: base,
      action: "by_request",
      doc: {
        summary: "Ask for any of CopilotKit's operations in one envelope",
        description:
          "For clients whose network lets one path through. `params.path` and `params.httpMethod` name a request below `/threads`.",
        tag: "runs",
        query: followQuerySchema,
        headers: lastEventIdHeaders,
        body: envelopeSchema,
        response: {
          status: 200,
          description: "As the operation of its own would answer: an event stream, or JSON",
          events: agUiEventSchema,
          schema: z.record(z.string(), jsonSchema),
        },
        errors: [
          "not_found",
          "upstream_unavailable",
          "model_not_allowed",
          "budget_exceeded",
          "models_unavailable",
        ],
      },
      handle: singleRoute,
    },
    {
      method: "GET",
      path: `${base}/info`,
      action: "read",
      doc: {
        summary: "List agents, for CopilotKit",
        tag: "agents",
        response: { status: 200, description: "The runtime and its agents", schema: runtimeInfoSchema },
        errors: ["upstream_unavailable"],
      },
      async handle(c) {
        return describeRuntime(c, parts, version);
      },
    },
    {
      method: "POST",
      path: `${base}/agent/:agentId/run`,
      action: "by_request",
      doc: {
        summary: "Start a run and stream it as AG-UI events",
        description:
          "Once the body is accepted the status is 200, and what goes wrong is a RUN_ERROR in the stream: a busy thread, an unknown checkpoint, a failing graph. Limits are still a 429 and a missing permission a 403.",
        tag: "runs",
        headers: lastEventIdHeaders,
        body: runAgentInputSchema,
        response: {
          status: 200,
          description: "The run, from its start to its one end",
          events: agUiEventSchema,
        },
        errors: ["model_not_allowed", "budget_exceeded", "models_unavailable"],
      },
      handle: (c, authenticated, arrival) =>
        run(c, authenticated, c.req.param("agentId") ?? "", authenticated.readBody, arrival),
    },
    {
      method: "POST",
      path: `${base}/agent/:agentId/connect`,
      action: "read",
      doc: {
        summary: "Show a thread as it stands, and what happens in it",
        description:
          "To the end of the run that is open, or with `follow` from then on. Holding a cursor, only what came after it.",
        tag: "runs",
        query: followQuerySchema,
        headers: lastEventIdHeaders,
        body: runAgentInputSchema,
        response: { status: 200, description: "A sequence of complete runs", events: agUiEventSchema },
        errors: [],
      },
      async handle(c, who) {
        return connect(c, who, c.req.param("agentId") ?? "", who.readBody);
      },
    },
    {
      method: "POST",
      path: `${base}/agent/:agentId/stop/:threadId`,
      action: "stop",
      doc: {
        summary: "Stop a run",
        description: "One that has not arrived yet is cancelled when it does.",
        tag: "runs",
        body: stopSchema,
        response: { status: 200, description: "What became of it", schema: stoppedSchema },
        errors: [],
      },
      async handle(c, who) {
        const names = { agentId: c.req.param("agentId") ?? "", threadId: c.req.param("threadId") ?? "" };
        return stop(c, who, names, who.readBody);
      },
    },
    followRoute(parts, base),
    ...threads.routes(base),
  ];
}

const threadEndpointsSchema = z.object({
  list: z.boolean(),
  inspect: z.boolean(),
  mutations: z.boolean(),
  realtimeMetadata: z.boolean(),
});

const runtimeInfoSchema = z.object({
  version: z.string(),
  mode: z.literal("sse"),
  agents: z.record(
    z.string(),
    z.object({
      name: z.string(),
      description: z.string(),
      className: z.string(),
      capabilities: z.object({
        custom: z.object({ capabilities: z.array(agentCapabilitySchema), commands: z.array(z.string()) }),
      }),
    }),
  ),
  audioFileTranscriptionEnabled: z.boolean(),
  a2uiEnabled: z.boolean(),
  openGenerativeUIEnabled: z.boolean(),
  threadEndpoints: threadEndpointsSchema,
  singleRoute: z.object({ resourceOperations: z.boolean(), threadEndpoints: threadEndpointsSchema }),
});

/** The list of agents, which a client requests first. The shape is CopilotKit's; capabilities are ours. */
async function describeRuntime(c: RouteContext, parts: App, version: string): Promise<Response> {
  const agents = await parts.service.agents.listAgents();
  const body: z.output<typeof runtimeInfoSchema> = {
    version,
    mode: "sse",
    agents: Object.fromEntries(
      agents.map(({ graphId, name, description, capabilities, commands }) => [
        graphId,
        {
          name,
          description,
          className: "ThroughlineAgent",
          capabilities: { custom: { capabilities, commands } },
        },
      ]),
    ),
    audioFileTranscriptionEnabled: false,
    a2uiEnabled: false,
    openGenerativeUIEnabled: false,
    threadEndpoints: THREAD_ENDPOINTS,
    singleRoute: { resourceOperations: true, threadEndpoints: THREAD_ENDPOINTS },
  };
  return c.json(body);
}
