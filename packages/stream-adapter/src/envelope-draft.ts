import type { EnvelopeType, PayloadOf } from "@throughline/ai-core";

/** An envelope before sampling: it has no time and number yet, because sampling may still merge it. */
export type DraftOf<T extends EnvelopeType> = {
  readonly type: T;
  readonly payload: PayloadOf<T>;
  readonly call_id: string;
  readonly parent_id: string | null;
  readonly agent: string;
};
export type EnvelopeDraft = { [T in EnvelopeType]: DraftOf<T> }[EnvelopeType];

/** The identity of a call: its id, its parent and its agent. */
export interface CallSite {
  readonly callId: string;
  readonly parentId: string | null;
  readonly agent: string;
}

export interface DraftBuffer {
  emit<T extends EnvelopeType>(type: T, site: CallSite, payload: PayloadOf<T>): void;
  /** Returns and removes the drafts emitted since the last call. */
  take(): EnvelopeDraft[];
}

export function createDraftBuffer(): DraftBuffer {
  let drafts: EnvelopeDraft[] = [];
  return {
    emit(type, site, payload) {
      const draft = { type, payload, call_id: site.callId, parent_id: site.parentId, agent: site.agent };
      // The generic pairing of type and payload is checked at every call; a union can't express it here.
      drafts.push(draft as unknown as EnvelopeDraft);
    },
    take() {
      const taken = drafts;
      drafts = [];
      return taken;
    },
  };
}
