/** The schemas of the service's HTTP responses, for client programs. */
export { shownBudgetSchema, shownBudgetStateSchema } from "./http/routes/budgets.js";
export { shownCronSchema, shownTickSchema } from "./http/routes/crons.js";
export {
  shownStatementSchema,
  shownUnbilledRunSchema,
  shownUnitSchema,
  shownUsageRowSchema,
} from "./http/routes/usage-schemas.js";
