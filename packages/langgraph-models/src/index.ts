export { type CreateModelOptions, createModel } from "./create-model.js";
export { keepCallContexts, keepCallContextsOf } from "./keep-call-contexts.js";
export { envKeyResolver, UNNAMED_KEY_ID } from "./key-resolver.js";
export { modelContextSchema } from "./model-context.js";
export { describeAttachments } from "./offline-attachments.js";
export { OFFLINE_MODEL_NAME, OfflineChatModel, type OfflineChatModelFields } from "./offline-model.js";
export type { OfflinePart, OfflinePrompt, OfflineScript } from "./offline-script.js";
