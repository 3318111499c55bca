"use client";

import { useThreadState } from "@throughline/agent-react";
import type { JsonObject } from "@throughline/ai-core";
import { type ReactNode, useState } from "react";
import { CopyButton } from "../../agent-ui/primitives/copy-button";
import { changedPaths, NOTHING_CHANGED, StateTree } from "../../agent-ui/primitives/json-tree";
import { PanelSection } from "../../shell/page-frame";

/** The agent's current state, with its last changes marked. */
export function StateTab(): ReactNode {
  const state = useThreadState(itself);
  const { changes, round } = useLastChanges(state);
  const copy = <CopyButton label="Copy the state as JSON" text={() => JSON.stringify(state, undefined, 2)} />;
  return (
    <PanelSection title="Current state" note={copy}>
      <StateTree value={state} changes={changes} round={round} />
    </PanelSection>
  );
}

function useLastChanges(state: JsonObject) {
  const [seen, setSeen] = useState({ state, changes: NOTHING_CHANGED, round: 0 });
  if (seen.state === state) return seen;
  // After a reconnect the state is a new object without changes; the first state has changed everywhere.
  const isFirst = Object.keys(seen.state).length === 0;
  const changes = isFirst ? NOTHING_CHANGED : changedPaths(seen.state, state);
  const next = changes.size === 0 ? { ...seen, state } : { state, changes, round: seen.round + 1 };
  setSeen(next);
  return next;
}

function itself(state: JsonObject): JsonObject {
  return state;
}
