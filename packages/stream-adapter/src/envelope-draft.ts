import type { EnvelopeType, PayloadOf } from "@throughline/ai-core";

/** An envelope before sampling: what happened, without time and number, because sampling may still merge it. */
export type DraftOf<T extends EnvelopeType> = {
  readonly type: T;
  readonly payload: PayloadOf<T>;
  readonly call_id: string;
  readonly parent_id: string | null;
  readonly agent: string;
};
export type Draft = { [T in EnvelopeType]: DraftOf<T> }[EnvelopeType];

/** Where a call stands: who it is, under whom, on whose behalf. */
export interface CallSite {
  readonly callId: string;
  readonly parentId: string | null;
  readonly agent: string;
}

export interface DraftSink {
  emit<T extends EnvelopeType>(type: T, site: CallSite, payload: PayloadOf<T>): void;
  /** Takes what was emitted since the last call. */
  take(): Draft[];
}

export function createDraftSink(): DraftSink {
  let drafts: Draft[] = [];
  return {
    emit(type, site, payload) {
      const draft = { type, payload, call_id: site.callId, parent_id: site.parentId, agent: site.agent };
      // The generic pairing of type and payload is checked at every call; a union can't express it here.
      drafts.push(draft as unknown as Draft);
    },
    take() {
      const taken = drafts;
      drafts = [];
      return taken;
    },
  };
}
