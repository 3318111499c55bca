import { contentText, ToolCalls, useMessage, useMessageIds, useRenderTool } from "../../index.js";

export function Conversation() {
  useRenderTool({
    name: "get_weather",
    render: ({ status, partialArgs, result }) => (
      <p>
        Weather in {String(partialArgs.city ?? "…")}: {status === "done" ? String(result) : status}
      </p>
    ),
  });
  useRenderTool({ name: "*", render: ({ name, status }) => <p>{`${name}: ${status}`}</p> });
  return useMessageIds().map((id) => <Message key={id} id={id} />);
}

function Message({ id }: { id: string }) {
  const message = useMessage(id);
  if (message?.role !== "assistant") return null;
  return (
    <div>
      {contentText(message.content)}
      <ToolCalls messageId={id} />
    </div>
  );
}
