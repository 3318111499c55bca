import { ThroughlineError } from "@throughline/ai-core";
import { z } from "zod";
import type { OpenRoute } from "../http/route-table.js";
import type { Metrics } from "../operations/metrics.js";

export interface OperationsOptions {
  readonly service: { ready(): Promise<void> };
  readonly metrics: Metrics;
  readonly version: string;
  readonly isClosing: () => boolean;
}

/** `/health`: the process lives. `/ready`: it can take work, stores included. `/metrics`: numbers for Prometheus. */
export function operationsRoutes({ service, metrics, version, isClosing }: OperationsOptions): OpenRoute[] {
  return [
    {
      method: "GET",
      path: "/health",
      isOpen: true,
      doc: {
        summary: "Say that the process lives",
        tag: "operations",
        answer: {
          status: 200,
          description: "It does",
          schema: z.object({ status: z.literal("ok"), version: z.string() }),
        },
        errors: [],
      },
      handle: (c) => c.json({ status: "ok", version }),
    },
    {
      method: "GET",
      path: "/ready",
      isOpen: true,
      doc: {
        summary: "Say whether it can take work, stores included",
        tag: "operations",
        answer: { status: 200, description: "It can", schema: z.object({ status: z.literal("ready") }) },
        otherwise: {
          status: 503,
          description: "It can't, for now",
          schema: z.object({ status: z.literal("not_ready") }),
        },
        errors: [],
      },
      async handle(c) {
        if (isClosing()) throw new ThroughlineError("shutting_down", "This instance is shutting down.");
        try {
          await service.ready();
        } catch (error) {
          c.get("logger").warn({ err: error }, "not ready");
          return c.json({ status: "not_ready" }, 503);
        }
        return c.json({ status: "ready" });
      },
    },
    {
      method: "GET",
      path: "/metrics",
      isOpen: true,
      doc: {
        summary: "Read the numbers for Prometheus",
        tag: "operations",
        answer: { status: 200, description: "In Prometheus' text format", contentType: "text/plain" },
        errors: [],
      },
      async handle(c) {
        return c.body(await metrics.render(), 200, { "content-type": metrics.contentType });
      },
    },
  ];
}
