import {
  aiEventSchema,
  envelopeSchema,
  interruptSchema,
  jsonSchema,
  messageSchema,
} from "@throughline/ai-core";
import type { z } from "zod";
import { agUiEventSchema } from "../ag-ui/ag-ui-event-schema.js";
import { agUiMessageSchema } from "../ag-ui/ag-ui-message.js";
import { runAgentInputSchema } from "../ag-ui/run-agent-input.js";
import { shownAgentSchema } from "../api/agents-route.js";
import { shownAuditEntrySchema } from "../api/audit-routes.js";
import { shownBudgetSchema, shownBudgetStateSchema } from "../api/budget-wire.js";
import { runRequestSchema } from "../api/runs-route.js";
import {
  shownStatementSchema,
  shownUnbilledRunSchema,
  shownUnitSchema,
  shownUsageRowSchema,
} from "../api/usage-wire.js";
import { shownAttachmentSchema } from "../attachments/attachment-routes.js";
import { newCronSchema } from "../crons/cron-definition.js";
import { shownCronSchema, shownTickSchema } from "../crons/cron-wire.js";
import { receiptSchema } from "../deletion/deletion-routes.js";
import { errorAnswerSchema } from "../http/error-answer.js";
import {
  shownCheckpointSchema,
  shownRunSchema,
  shownStateSchema,
  shownThreadSchema,
} from "../threads/thread-wire.js";

type Named = Readonly<Record<string, z.ZodType>>;

/** What has a name of its own in the document. A schema that holds itself needs one. */
export const SHARED_INPUTS: Named = {
  Json: jsonSchema,
  RunAgentInput: runAgentInputSchema,
  AgUiMessage: agUiMessageSchema,
  RunRequest: runRequestSchema,
  NewCron: newCronSchema,
};

export const SHARED_ANSWERS: Named = {
  Json: jsonSchema,
  Error: errorAnswerSchema,
  Agent: shownAgentSchema,
  AgUiEvent: agUiEventSchema,
  AiEvent: aiEventSchema,
  Envelope: envelopeSchema,
  Message: messageSchema,
  Interrupt: interruptSchema,
  Thread: shownThreadSchema,
  ThreadState: shownStateSchema,
  Checkpoint: shownCheckpointSchema,
  Run: shownRunSchema,
  Cron: shownCronSchema,
  CronTick: shownTickSchema,
  Attachment: shownAttachmentSchema,
  DeletionReceipt: receiptSchema,
  AuditEntry: shownAuditEntrySchema,
  UsageRow: shownUsageRowSchema,
  Statement: shownStatementSchema,
  UsageUnit: shownUnitSchema,
  UnbilledRun: shownUnbilledRunSchema,
  Budget: shownBudgetSchema,
  BudgetState: shownBudgetStateSchema,
};
