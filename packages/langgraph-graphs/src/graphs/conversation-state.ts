import { MessagesValue, StateSchema } from "@langchain/langgraph";

/** A state that is a conversation and nothing else. A `StateSchema`, because servers can read its schema at run time. */
export const ConversationState = new StateSchema({ messages: MessagesValue });
