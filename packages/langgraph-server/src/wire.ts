/** The shapes of what the service answers, for programs that ask it over HTTP. */
export { shownBudgetSchema, shownBudgetStateSchema } from "./api/budget-wire.js";
export {
  shownStatementSchema,
  shownUnbilledRunSchema,
  shownUnitSchema,
  shownUsageRowSchema,
} from "./api/usage-wire.js";
export { shownCronSchema, shownTickSchema } from "./crons/cron-wire.js";
