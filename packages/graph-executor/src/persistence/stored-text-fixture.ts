import { MemorySaver } from "@langchain/langgraph-checkpoint";

/** All that the checkpoints of a memory saver hold, as text, for tests that look for what must not be there. */
export function storedText(saver: unknown): string {
  if (!(saver instanceof MemorySaver)) throw new Error("Expected the saver of this process.");
  const texts: string[] = [];
  JSON.stringify([saver.storage, saver.writes], (_, value: unknown) => {
    if (value instanceof Uint8Array) texts.push(Buffer.from(value).toString());
    return value instanceof Uint8Array ? undefined : value;
  });
  return texts.join("\n");
}
