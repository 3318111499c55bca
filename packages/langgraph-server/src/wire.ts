/** The shapes of what the service answers, for programs that ask it over HTTP. */
export { shownBudgetSchema, shownBudgetStateSchema } from "./http/routes/budgets.js";
export { shownCronSchema, shownTickSchema } from "./http/routes/crons.js";
export {
  shownStatementSchema,
  shownUnbilledRunSchema,
  shownUnitSchema,
  shownUsageRowSchema,
} from "./http/routes/usage-schemas.js";
