import type { AgentClient } from "@throughline/agent-client";
import type { ReactNode } from "react";
import type { ToolCallState } from "./use-tool-call.js";

/** Draws calls of one tool; `*`: of every tool that has no renderer of its own. */
export interface ToolRenderer {
  readonly name: string;
  /** Called while a component renders. To use hooks, return a component. */
  render(call: ToolCallState): ReactNode;
}

export interface ToolRenderers {
  /** The newest for this tool, else the newest for all. */
  find(name: string): ToolRenderer | undefined;
  subscribe(listener: () => void): () => void;
  add(renderer: ToolRenderer): () => void;
}

const ofClient = new WeakMap<AgentClient, ToolRenderers>();

/** The registry of a client's page. */
export function toolRenderers(client: AgentClient): ToolRenderers {
  const known = ofClient.get(client);
  if (known) return known;
  const created = createToolRenderers();
  ofClient.set(client, created);
  return created;
}

function createToolRenderers(): ToolRenderers {
  const listeners = new Set<() => void>();
  let renderers: readonly ToolRenderer[] = [];

  function become(next: readonly ToolRenderer[]): void {
    renderers = next;
    for (const listener of [...listeners]) listener();
  }

  return {
    find: (name) =>
      renderers.findLast((one) => one.name === name) ?? renderers.findLast((one) => one.name === "*"),
    subscribe(listener) {
      const own = () => listener();
      listeners.add(own);
      return () => void listeners.delete(own);
    },
    add(renderer) {
      become([...renderers, renderer]);
      return () => become(renderers.filter((one) => one !== renderer));
    },
  };
}
