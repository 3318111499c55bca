import type { AgentClient, FrontendTool } from "@throughline/agent-client";
import { type ReactNode, useCallback, useEffect, useRef, useSyncExternalStore } from "react";
import { useClientFor, useRetained } from "./providers.js";
import { useMessage } from "./use-messages.js";
import { type ToolCallState, useToolCall } from "./use-tool-call.js";

/** Renders calls of one tool; `*`: of every tool that has no renderer of its own. */
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
 * Renders calls of a tool in every `<ToolCalls>`, while mounted. A call is rendered by the `render` of the newest render; calls
 * that are on the page already are rendered again when one of `deps` changes.
 */
export function useRenderTool(renderer: ToolRenderer, deps: readonly unknown[] = []): void {
  const client = useClientFor("useRenderTool()");
  const newest = useRef(renderer);
  useEffect(() => {
    newest.current = renderer;
  });
  const { name } = renderer;
  useRetained(
    () => toolRenderers(client).add({ name, render: (call) => newest.current.render(call) }),
    [client, name, ...deps],
  );
}

/** Renders the calls of a message, each by its tool's renderer. Calls of a tool without one are not shown. */
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
 * Declares a tool that runs in this page, while mounted. A call runs the `run` of the newest render. The declaration follows
 * `name`, `description` and `parameters` by value; when one of `deps` changes, the tool is redeclared, and calls under way restart.
 */
export function useFrontendTool(tool: FrontendTool, deps: readonly unknown[] = []): void {
  const client = useClientFor("useFrontendTool()");
  const newest = useRef(tool);
  useEffect(() => {
    newest.current = tool;
  });
  const { name, description, parameters } = tool;
  useRetained(
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
