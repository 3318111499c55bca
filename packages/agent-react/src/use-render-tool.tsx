import { type ReactNode, useCallback, useEffect, useRef, useSyncExternalStore } from "react";
import { useClientFor } from "./agent-provider.js";
import { type ToolRenderer, toolRenderers } from "./tool-renderers.js";
import { useHeld } from "./use-held.js";
import { useMessage } from "./use-messages.js";
import { useToolCall } from "./use-tool-call.js";

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
