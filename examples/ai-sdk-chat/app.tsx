import { Chat, useChat } from "@ai-sdk/react";
import { DefaultChatTransport, type UIMessage } from "ai";
import { useState } from "react";
import { createRoot } from "react-dom/client";

const page = new URL(location.href);
const service = page.searchParams.get("service") ?? "http://127.0.0.1:8000";
const agent = page.searchParams.get("agent") ?? "chat";
const chatId = page.searchParams.get("chat") ?? "hello";
const api = `${service}/api/ai-sdk/${agent}/chat`;

/** `cursor`: where the chat stood when its messages were listed. */
function openChat(messages: UIMessage[], cursor: string | null): Chat<UIMessage> {
  const transport = new DefaultChatTransport<UIMessage>({
    api,
    // The service keeps the conversation, so only the last message travels.
    prepareSendMessagesRequest: ({ id, messages: all, trigger, messageId, body }) => ({
      body: { ...body, id, messages: all.slice(-1), trigger, messageId },
    }),
    prepareReconnectToStreamRequest: ({ id }) => ({ api: `${api}/${id}/stream?since=${cursor}` }),
  });
  // Given to `useChat` as it is: of a transport alone it forgets that a resumed stream begins anew.
  return new Chat({ id: chatId, messages, transport });
}

function ChatPage({ chat }: { chat: Chat<UIMessage> }) {
  const [text, setText] = useState("");
  const { messages, sendMessage, regenerate, status, error } = useChat({ chat, resume: true });
  const isBusy = status === "submitted" || status === "streaming";
  const answer = (interruptId: string, payload: unknown) =>
    sendMessage(undefined, { body: { resume: [{ interruptId, status: "resolved", payload }] } });
  // `useChat`'s own `stop` closes the stream; this ends the run, for everyone who sees it.
  const stop = () => fetch(`${api}/${chatId}/stop`, { method: "POST" });

  return (
    <main data-status={status}>
      {messages.map(({ id, role, parts }) => (
        <article key={id} className={role}>
          {parts.map((part, at) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: parts of a message only ever grow.
            <Part key={`${id}-${at}`} part={part} onAnswer={answer} />
          ))}
        </article>
      ))}
      {error && <p role="alert">{error.message}</p>}
      <form
        onSubmit={(event) => {
          event.preventDefault();
          setText("");
          void sendMessage({ text });
        }}
      >
        <input aria-label="Message" value={text} onChange={(event) => setText(event.target.value)} />
        {isBusy ? (
          <button type="button" onClick={stop}>
            Stop
          </button>
        ) : (
          <button type="submit">Send</button>
        )}
        {!isBusy && messages.at(-1)?.role === "assistant" && (
          <button type="button" onClick={() => void regenerate()}>
            Regenerate
          </button>
        )}
      </form>
    </main>
  );
}

type Question = {
  status: "open" | "answered";
  message?: string;
  metadata: { langgraph: { raw: { options?: Record<string, unknown>[] } } };
};

function Part(props: { part: UIMessage["parts"][number]; onAnswer(id: string, payload: unknown): void }) {
  const { part, onAnswer } = props;
  if (part.type === "text") return <span>{part.text}</span>;
  if (part.type === "reasoning")
    return (
      <details>
        <summary>Thought</summary>
        {part.text}
      </details>
    );
  if (part.type === "file") return <a href={part.url}>{part.filename ?? part.mediaType}</a>;
  if (part.type === "dynamic-tool")
    return (
      <details open>
        <summary>{part.toolName}</summary>
        {JSON.stringify(part.input)} {part.state === "output-available" && `→ ${String(part.output)}`}
        {part.state === "output-error" && `failed: ${part.errorText}`}
      </details>
    );
  if (part.type !== "data-question") return null;
  const { status, message, metadata } = part.data as Question;
  return (
    <div className="question">
      <p>{message}</p>
      {(metadata.langgraph.raw.options ?? []).map((option, at) => (
        <button
          key={String(at)}
          type="button"
          disabled={status !== "open"}
          onClick={() => onAnswer(part.id ?? "", option)}
        >
          {String(Object.values(option)[0])}
        </button>
      ))}
    </div>
  );
}

const root = createRoot(document.getElementById("root") as HTMLElement);
fetch(`${api}/${chatId}`)
  .then((answer) => answer.json())
  .then(({ messages, cursor }) => root.render(<ChatPage chat={openChat(messages, cursor)} />));
