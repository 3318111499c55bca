import type { SerializerProtocol } from "@langchain/langgraph-checkpoint";
import { ATTACHMENT_MARK } from "@throughline/ai-core";
import { toAttachmentReference } from "@throughline/coerce";

/**
 * Stores addresses of attachments instead of their bytes. A channel is stored whole with each step that changes it, so
 * without this a conversation would hold every file once per step. Costs a search for the mark where there is none.
 */
export function attachmentSerializer(inner: SerializerProtocol): SerializerProtocol {
  return {
    async dumpsTyped(value) {
      const [type, bytes] = await inner.dumpsTyped(value);
      const stored = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
      if (type !== "json" || !stored.includes(ATTACHMENT_MARK)) return [type, bytes];
      const plain: unknown = JSON.parse(stored.toString(), (_, item: unknown) =>
        typeof item === "object" && item !== null ? (toAttachmentReference(item) ?? item) : item,
      );
      return [type, new TextEncoder().encode(JSON.stringify(plain))];
    },
    loadsTyped: (type, data) => inner.loadsTyped(type, data),
  };
}
