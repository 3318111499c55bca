import type { MessageView } from "./thread-view.js";

/** The words of a message, whichever way they are carried: files and other parts have none. */
export function contentText(content: MessageView["content"] = ""): string {
  if (typeof content === "string") return content;
  return content
    .flatMap(({ type, text }) => (type === "text" && typeof text === "string" ? [text] : []))
    .join("\n\n");
}
