export { compactEntries } from "./checkpoint/compact.js";

export { type RebuildSource, rebuildProjection } from "./checkpoint/rebuild.js";

export {
  createStreamAdapter,
  type StreamAdapter,
  type StreamAdapterOptions,
} from "./stream-adapter.js";

export { type StateKeys, visibleState } from "./translate/state.js";
