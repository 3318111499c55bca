export { aiEventsResponse, readAiEvents, uiMessageStreamOf } from "./ai-events-response.js";
export { type ChatHandlerOptions, createChatHandler } from "./chat-handler.js";
