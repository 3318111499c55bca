export { compactEntries } from "./fold/compact-entries.js";
export { type FoldSource, rebuildFold } from "./fold/rebuild-fold.js";
export {
  createRunTranslator,
  type RunTranslator,
  type RunTranslatorOptions,
} from "./translate/run-translator.js";
export { type StateKeys, visibleState } from "./translate/state-tracker.js";
