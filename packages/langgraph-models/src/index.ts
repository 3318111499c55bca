export { bindCallContexts, bindCallContextsOf } from "./call-context.js";
export { type CreateModelOptions, createModel, modelContextSchema } from "./create-model.js";
export { envKeyResolver, UNNAMED_KEY_ID } from "./keys.js";
export { OFFLINE_MODEL_NAME, OfflineChatModel, type OfflineChatModelFields } from "./offline-model.js";
export type { OfflinePart, OfflinePrompt, OfflineScript } from "./offline-turn.js";
export { describeAttachments } from "./offline-turn.js";
