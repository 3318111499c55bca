import { jsonObjectSchema, ThroughlineError } from "@throughline/ai-core";
import type { StoreItems } from "@throughline/graph-executor";
import { z } from "zod";
import { queryOf } from "../http/checked-request.js";
import type { RouteParts } from "../http/ingress.js";
import type { ActionRoute } from "../http/route-table.js";
import { wholeNumber } from "../http/whole-number.js";

/** LangGraph lets no label hold a dot, so dots separate them. */
const namespaceSchema = z
  .string()
  .max(1_000)
  .transform((text) => text.split(".").filter((label) => label !== ""));

const listSchema = z.object({
  prefix: namespaceSchema.default([]).describe("A namespace, with dots between its labels."),
  limit: wholeNumber(1, 100).default(50),
  offset: wholeNumber(0, 1_000_000).default(0),
});
const itemNameSchema = z.object({
  namespace: namespaceSchema.describe("With dots between its labels."),
  key: z.string().min(1).max(1_000),
});
const itemSchema = z.object({
  namespace: z.array(z.string()),
  key: z.string(),
  value: jsonObjectSchema,
  createdAt: z.iso.datetime(),
  updatedAt: z.iso.datetime(),
});

/** What graphs remember of the caller beyond their threads. */
export function storeRoutes(
  parts: RouteParts<{ readonly storeItems: StoreItems | undefined }>,
): ActionRoute[] {
  function items(): StoreItems {
    if (parts.service.storeItems) return parts.service.storeItems;
    throw new ThroughlineError(
      "not_found",
      "The graphs run on a LangGraph server, whose store can't be told apart by account.",
    );
  }
  return [
    {
      method: "GET",
      path: "/store/items",
      action: "read_store",
      doc: {
        summary: "List what graphs remember",
        tag: "account",
        query: listSchema,
        answer: { status: 200, description: "Items", schema: z.object({ items: z.array(itemSchema) }) },
        errors: ["invalid_input", "not_found"],
      },
      async handle(c, { caller }) {
        const found = await items().list(caller, queryOf(c, listSchema));
        return c.json({ items: found });
      },
    },
    {
      method: "DELETE",
      path: "/store/items",
      action: "write_store",
      doc: {
        summary: "Delete something graphs remember",
        tag: "account",
        query: itemNameSchema,
        answer: { status: 204, description: "It is gone" },
        errors: ["invalid_input", "not_found"],
      },
      async handle(c, { caller }) {
        const { namespace, key } = queryOf(c, itemNameSchema);
        if (await items().delete(caller, namespace, key)) return c.body(null, 204);
        throw new ThroughlineError("not_found", "There is no such item.");
      },
    },
  ];
}
