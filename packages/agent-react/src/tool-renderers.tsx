import type { AgentClient, FrontendTool } from "@throughline/agent-client";
import { type ReactNode, useCallback, useEffect, useRef, useSyncExternalStore } from "react";
import { useClientFor, useHeld } from "./providers.js";
import { useMessage } from "./use-messages.js";
import { type ToolCallState, useToolCall } from "./use-tool-call.js";

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
function toolRenderers(client: AgentClient): ToolRenderers {
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

/**
 * Draws calls of a tool wherever `<ToolCalls>` stands, while mounted. A call is drawn by the `render` of the newest render; calls
 * that are on the page already are drawn anew when one of `deps` changes.
 */
export function useRenderTool(renderer: ToolRenderer, deps: readonly unknown[] = []): void {
  const client = useClientFor("useRenderTool()");
  const newest = useRef(renderer);
  useEffect(() => {
    newest.current = renderer;
  });
  const { name } = renderer;
  useHeld(
    () => toolRenderers(client).add({ name, render: (call) => newest.current.render(call) }),
    [client, name, ...deps],
  );
}

/** The calls of a message, each as its tool's renderer draws it. Of a tool without one it shows nothing. */
export function ToolCalls({ messageId }: { readonly messageId: string }): ReactNode {
  const calls = useMessage(messageId)?.toolCalls ?? [];
  return calls.map(({ id, name }) => <ToolCall key={id} messageId={messageId} toolCallId={id} name={name} />);
}

interface ToolCallProps {
  readonly messageId: string;
  readonly toolCallId: string;
  readonly name: string;
}

function ToolCall({ messageId, toolCallId, name }: ToolCallProps): ReactNode {
  const renderers = toolRenderers(useClientFor("<ToolCalls>"));
  const find = useCallback(() => renderers.find(name), [renderers, name]);
  const renderer = useSyncExternalStore(renderers.subscribe, find, noRenderer);
  const call = useToolCall(messageId, toolCallId);
  return renderer && call ? renderer.render(call) : null;
}

const noRenderer = () => undefined;

/**
 * A tool that runs in this page, declared while mounted. A call runs the `run` of the newest render. What is declared follows
 * `name`, `description` and `parameters` by value; when one of `deps` changes, it is declared anew, and calls under way begin again.
 */
export function useFrontendTool(tool: FrontendTool, deps: readonly unknown[] = []): void {
  const client = useClientFor("useFrontendTool()");
  const newest = useRef(tool);
  useEffect(() => {
    newest.current = tool;
  });
  const { name, description, parameters } = tool;
  useHeld(
    () =>
      client.declareTool({
        name,
        description,
        parameters,
        run: (args, about) => newest.current.run(args, about),
      }),
    [client, name, description, JSON.stringify(parameters), ...deps],
  );
}
