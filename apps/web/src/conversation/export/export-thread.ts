import { currentMessages, type ThreadHandle } from "@throughline/agent-client";
import { downloadText, fileNameOf } from "./download-text";
import { type Heading, threadMarkdown } from "./thread-markdown";

/** A thread as this page holds it, to take away. */
export function exportThread(handle: ThreadHandle, heading: Heading) {
  const { agentId, threadId } = handle;
  const messages = currentMessages(handle.getSnapshot().view);
  const markdown = () => threadMarkdown(heading, messages);
  return {
    markdown,
    saveMarkdown: () => downloadText(fileNameOf(heading.title, "md"), markdown(), "text/markdown"),
    saveJson() {
      const { title } = heading;
      const document = { agentId, threadName: threadId, title, exportedAt: new Date(), messages };
      const text = `${JSON.stringify(document, undefined, 2)}\n`;
      downloadText(fileNameOf(title, "json"), text, "application/json");
    },
  };
}
