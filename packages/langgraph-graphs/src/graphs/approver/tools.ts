import { tool } from "@langchain/core/tools";
import { z } from "zod";

/** Free: it only reads. */
export const lookUpOrder = tool(
  ({ order }) => JSON.stringify({ order, customer: "ada@example.com", item: "Desk lamp", amount: 49 }),
  {
    name: "look_up_order",
    description: "Reads an order.",
    schema: z.object({ order: z.string() }),
  },
);

/** Gated: every decision is allowed. */
export const refundOrder = tool(({ order, amount }) => `Refunded ${amount} EUR for order ${order}.`, {
  name: "refund_order",
  description: "Pays the price of an order back.",
  schema: z.object({ order: z.string(), amount: z.number() }),
});

/** Gated: may be approved or rejected as it is. */
export const sendEmail = tool(({ to, subject }) => `Sent "${subject}" to ${to}.`, {
  name: "send_email",
  description: "Sends an email.",
  schema: z.object({ to: z.string(), subject: z.string(), body: z.string() }),
});

/** Gated, and only the clerk has it. */
export const fileRecord = tool(({ title }) => `Filed "${title}".`, {
  name: "file_record",
  description: "Files a record for the auditors.",
  schema: z.object({ title: z.string() }),
});
