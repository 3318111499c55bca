import { invalidInput, type Json, ThroughlineError } from "@throughline/ai-core";
import { z } from "zod";
import { connectAgent } from "./connect-route.js";
import { describeRuntime } from "./info-route.js";
import { type RouteContext, type RouteParts, requireAgent, type SignedIn, signIn } from "./ingress.js";
import { parsedJson } from "./parsed-json.js";
import { readJsonBody } from "./read-json-body.js";
import type { Route } from "./route-table.js";

import { parseRunAgentInput } from "./run-input.js";
import { runAgent } from "./run-route.js";
import { stopAgent } from "./stop-route.js";

const SINGLE_ROUTE_METHODS = ["info", "agent/run", "agent/connect", "agent/stop"] as const;

const envelopeSchema = z.object({
  method: z.string(),
  params: z.object({ agentId: z.string().optional(), threadId: z.string().optional() }).nullish(),
  body: parsedJson.nullish(),
});

/** CopilotKit's protocol, spoken natively: one route per wish, or all wishes in one envelope to the base path. */
export function copilotkitRoutes(parts: RouteParts, base: string, version: string): Route[] {
  async function body(c: RouteContext, { limits }: SignedIn): Promise<Json | undefined> {
    return readJsonBody(c.req.raw, limits.maxBodyBytes);
  }

  async function run(c: RouteContext, who: SignedIn, agentId: string, read: () => Promise<Json | undefined>) {
    const agent = await requireAgent(parts, agentId);
    return runAgent(c, parts, who, agent, parseRunAgentInput(await read(), who.limits.maxContentParts));
  }

  async function connect(
    c: RouteContext,
    who: SignedIn,
    agentId: string,
    read: () => Promise<Json | undefined>,
  ) {
    const agent = await requireAgent(parts, agentId);
    return connectAgent(c, parts, who, agent, parseRunAgentInput(await read(), who.limits.maxContentParts));
  }

  async function stop(
    c: RouteContext,
    who: SignedIn,
    names: { readonly agentId: string; readonly threadId: string },
    read: () => Promise<Json | undefined>,
  ) {
    const agent = await requireAgent(parts, names.agentId);
    return stopAgent(c, parts, who, agent, names.threadId, await read());
  }

  async function singleRoute(c: RouteContext): Promise<Response> {
    const who = await signIn(c, parts);
    const parsed = envelopeSchema.safeParse((await body(c, who)) ?? {});
    if (!parsed.success) throw invalidInput(parsed.error, "body");
    const { method, params, body: inner } = parsed.data;
    const read = async () => inner ?? undefined;
    const agentId = params?.agentId ?? "";
    switch (method) {
      case "info":
        return describeRuntime(c, parts, version);
      case "agent/run":
        return run(c, who, agentId, read);
      case "agent/connect":
        return connect(c, who, agentId, read);
      case "agent/stop":
        return stop(c, who, { agentId, threadId: params?.threadId ?? "" }, read);
      default:
        throw new ThroughlineError(
          "not_found",
          `method: there is no such method. There is: ${SINGLE_ROUTE_METHODS.join(", ")}.`,
          { details: { field: "method", known: [...SINGLE_ROUTE_METHODS] } },
        );
    }
  }

  return [
    { method: "POST", path: base, handle: singleRoute },
    {
      method: "GET",
      path: `${base}/info`,
      async handle(c) {
        await signIn(c, parts);
        return describeRuntime(c, parts, version);
      },
    },
    {
      method: "POST",
      path: `${base}/agent/:agentId/run`,
      async handle(c) {
        const who = await signIn(c, parts);
        return run(c, who, c.req.param("agentId") ?? "", () => body(c, who));
      },
    },
    {
      method: "POST",
      path: `${base}/agent/:agentId/connect`,
      async handle(c) {
        const who = await signIn(c, parts);
        return connect(c, who, c.req.param("agentId") ?? "", () => body(c, who));
      },
    },
    {
      method: "POST",
      path: `${base}/agent/:agentId/stop/:threadId`,
      async handle(c) {
        const who = await signIn(c, parts);
        const names = { agentId: c.req.param("agentId") ?? "", threadId: c.req.param("threadId") ?? "" };
        return stop(c, who, names, () => body(c, who));
      },
    },
  ];
}
