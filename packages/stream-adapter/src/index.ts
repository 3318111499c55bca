export { compactEntries } from "./checkpoint/compact.js";

export { type FoldSource, rebuildFold } from "./checkpoint/rebuild.js";

export {
  createRunTranslator,
  type RunTranslator,
  type RunTranslatorOptions,
} from "./stream-adapter.js";

export { type StateKeys, visibleState } from "./translate/state.js";
