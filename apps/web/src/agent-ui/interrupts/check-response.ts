/** A module of its own, so that the schema checker is loaded with the first response and not earlier. */
export { validateEdit, validateResponse } from "@throughline/questions";
