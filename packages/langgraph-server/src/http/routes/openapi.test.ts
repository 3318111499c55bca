import { type Json, jsonSchema } from "@throughline/ai-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { askAsDocumented, NEVER_GOOD } from "../../testing/ask-as-documented.js";
import { listOperations } from "../../testing/documented-request.js";
import { schemaProblem } from "../../testing/schema-problem.js";
import { startTestServer, type TestServer } from "../../testing/test-server.js";
import type { OpenApiDocument } from "../openapi-shape.js";

/** Some 300 requests over all operations. */
const RUNS_EACH = 6;

const NAMED_ONLY = { type: "object", properties: { threadName: { type: "string" } } };

let server: TestServer;
let document: OpenApiDocument;
beforeAll(async () => {
  server = await startTestServer({ version: "1.2.3" });
  // A parsed boundary: our own answer, which is what is tested here.
  document = (await (await fetch(`${server.url}/openapi.json`)).json()) as OpenApiDocument;
});
afterAll(() => server.close());

function referencesIn(value: object): string[] {
  return Object.entries(value).flatMap(([key, inner]: [string, Json]) => {
    if (key === "$ref" && typeof inner === "string") return [inner];
    return typeof inner === "object" && inner !== null ? referencesIn(inner) : [];
  });
}

describe("The OpenAPI document", () => {
  it("describes every route of the handler, and no other", () => {
    const described = listOperations({ document }).map(({ method, path }) => `${method} ${path}`);
    const routed = server.handler.routes.map(
      ({ method, path }) => `${method} ${path.replaceAll(/:(\w+)/g, "{$1}")}`,
    );
    expect(described.sort()).toEqual([...new Set(routed)].sort());
    expect(document.info.version).toBe("1.2.3");
  });

  it("leads somewhere with every reference, and names nothing that is not used", () => {
    const references = new Set(referencesIn(document));
    for (const reference of references) {
      const found = reference
        .slice("#/".length)
        .split("/")
        .reduce<unknown>((at, key) => Object(at)[key], document);
      expect(found, reference).toBeTypeOf("object");
    }
    const named = Object.keys(document.components.schemas).map((name) => `#/components/schemas/${name}`);
    expect(named.filter((name) => !references.has(name))).toEqual([]);
  });

  it("names each operation once, with every name in its path", () => {
    const operations = listOperations({ document });
    const ids = operations.map(({ operation }) => operation.operationId);
    expect(new Set(ids).size).toBe(ids.length);
    for (const { path, operation } of operations) {
      const named = (operation.parameters ?? []).filter((parameter) => parameter.in === "path");
      expect(named.map(({ name }) => `{${name}}`)).toEqual(path.match(/\{\w+\}/g) ?? []);
    }
  });

  it.each([
    ["devAccount", ["a", "a-b_C9", "a".repeat(128), "a".repeat(129), "a b", "a:b", "a/b", "\u00e9", ""]],
    ["devSubject", ["a", "auth0|a b", "\u00e9", "a".repeat(256), "a".repeat(257), "\u0080", "\u009f", ""]],
  ] as const)("says which values the header of %s takes, and is right", async (name, values) => {
    const schemeSchema = z.object({
      name: z.string(),
      "x-throughline-schema": z.record(z.string(), jsonSchema),
    });
    const scheme = schemeSchema.parse(document.components.securitySchemes[name]);
    const documented = (value: string) =>
      schemaProblem({ document }, scheme["x-throughline-schema"], value) === undefined;
    const verdicts = new Set<boolean>();
    for (const value of values) {
      const answer = await fetch(`${server.url}/me`, { headers: { [scheme.name]: value } });
      await answer.body?.cancel();
      expect([value, answer.status !== 400]).toEqual([value, documented(value)]);
      verdicts.add(documented(value));
    }
    expect(verdicts).toEqual(new Set([true, false]));
  });

  it("says which operations need no sign-in, and is right", async () => {
    for (const { method, path, operation } of listOperations({ document })) {
      const answer = await fetch(`${server.url}${path.replaceAll(/\{\w+\}/g, "poet")}?follow=false`, {
        method,
        headers: { "x-throughline-account": "not an account" },
      });
      await answer.body?.cancel();
      expect([path, answer.status === 400], path).toEqual([path, operation.security?.length !== 0]);
    }
  });
});

describe("Every operation", () => {
  it("answers as documented, whether or not a request is", async () => {
    const operations = listOperations({ document });
    const withoutGood: string[] = [];
    for (const listed of operations) {
      const ask = async (runs: number) => {
        const seen = await askAsDocumented({ url: server.url, document, listed, runs, seed: 2026 });
        return [...seen].some((status) => status < 300);
      };
      // The more fields a body has, the rarer is one that fits in all of them.
      const isGood = (await ask(RUNS_EACH)) || (await ask(10 * RUNS_EACH));
      if (!isGood) withoutGood.push(listed.operation.operationId);
    }
    expect(withoutGood.sort()).toEqual(NEVER_GOOD);
  }, 60_000);

  it("would be caught with a field or a status that is documented nowhere", async () => {
    const { Thread: _, ...schemas } = document.components.schemas;
    const forgetful = {
      ...document,
      components: { ...document.components, schemas: { ...schemas, Thread: NAMED_ONLY } },
    };
    const listed = listOperations({ document }).find(
      ({ operation }) => operation.operationId === "getAgentsThreadsByThreadName",
    );
    if (!listed) throw new Error("The operation has another name now.");
    const trial = { url: server.url, listed, runs: RUNS_EACH, seed: 2026 };
    await expect(askAsDocumented({ ...trial, document: forgetful })).rejects.toThrow("Property failed");
    const { 404: __, ...responses } = listed.operation.responses;
    const silent = { ...listed, operation: { ...listed.operation, responses } };
    await expect(askAsDocumented({ ...trial, document, listed: silent })).rejects.toThrow("Property failed");
  });
});
