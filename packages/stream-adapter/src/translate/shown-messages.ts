import type { Draft, DraftSink } from "./draft.js";

/** Ids of the conversation's messages that viewers have: those of the thread before the run, and what the run showed of them. */
export interface ShownMessages {
  has(messageId: string): boolean;
  add(messageId: string): void;
}

/** Derives what is shown from what is emitted, so that no part of the translator has to report it. */
export function trackShownMessages(
  sink: DraftSink,
  wasShown: (messageId: string) => boolean,
): { readonly shown: ShownMessages; readonly sink: DraftSink } {
  /** `false`: retracted. */
  const during = new Map<string, boolean>();
  const ofSubagents = new Set<string>();
  const shown: ShownMessages = {
    has: (id) => during.get(id) ?? wasShown(id),
    add: (id) => void during.set(id, true),
  };
  const tracked: DraftSink = {
    take: () => sink.take(),
    emit(type, site, payload) {
      sink.emit(type, site, payload);
      // As in the sink: the pairing of type and payload is checked at every call.
      note({ type, payload } as unknown as Noted);
    },
  };

  function note(draft: Noted): void {
    switch (draft.type) {
      case "run_start":
        for (const { id } of draft.payload.input.messages) shown.add(id);
        return;
      case "llm_start":
        if (draft.payload.subagent_id !== undefined) ofSubagents.add(draft.payload.message_id);
        return;
      case "llm_token": {
        const { message_id, text, part, tool_call } = draft.payload;
        const isPlaced = text !== undefined || part !== undefined || tool_call?.id !== undefined;
        if (isPlaced && !ofSubagents.has(message_id)) shown.add(message_id);
        return;
      }
      case "tool_end":
        if (draft.payload.kind === "tool" && draft.payload.message_id !== undefined)
          shown.add(draft.payload.message_id);
        return;
      case "retract":
        for (const id of draft.payload.message_ids) during.set(id, false);
        return;
      default:
    }
  }

  return { shown, sink: tracked };
}

type Noted = {
  [T in Draft["type"]]: Pick<Extract<Draft, { readonly type: T }>, "type" | "payload">;
}[Draft["type"]];
