import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import { ThroughlineError } from "@throughline/ai-core";

const ALGORITHM = "aes-256-gcm";
const KEY_BYTES = 32;
const IV_BYTES = 12;
const TAG_BYTES = 16;
const FORMAT = "v1";
const SECRET = /^([A-Za-z0-9_-]{1,32}):([A-Za-z0-9+/_-]{43}=?)$/;

/** Secrets that tokens are sealed with. The current one seals; all of them open, so that one can replace another. */
export interface KeyRing {
  readonly currentId: string;
  /** `context` names what the text belongs to: a sealed text moved to another row does not open. */
  seal(text: string, context: string): string;
  /** Throws a `ThroughlineError` (`internal`) that holds neither text nor secret. */
  open(sealed: string, context: string): string;
  isCurrent(sealed: string): boolean;
}

/**
 * Reads `ID:SECRET,ID:SECRET`, each secret 32 bytes in base64; the first is the current one. To rotate, put a new one in front,
 * reseal, then drop the old.
 */
export function parseKeyRing(setting: string): KeyRing {
  const secrets = new Map<string, Buffer>();
  let currentId: string | undefined;
  for (const part of setting.split(",")) {
    const [, id, text] = SECRET.exec(part.trim()) ?? [];
    const secret = text === undefined ? undefined : Buffer.from(text, "base64");
    // The setting is not repeated: it is the secret.
    if (id === undefined || secret?.length !== KEY_BYTES || secrets.has(id)) {
      throw new ThroughlineError(
        "invalid_input",
        "Key secrets are ID:SECRET pairs with commas between, each SECRET 32 bytes in base64 (openssl rand -base64 32) " +
          "and each ID used once.",
      );
    }
    secrets.set(id, secret);
    currentId ??= id;
  }
  return createKeyRing(currentId ?? "", secrets);
}

function createKeyRing(currentId: string, secrets: ReadonlyMap<string, Buffer>): KeyRing {
  return {
    currentId,
    seal(text, context) {
      const secret = secrets.get(currentId);
      if (!secret) throw unreadable(currentId);
      const iv = randomBytes(IV_BYTES);
      const cipher = createCipheriv(ALGORITHM, secret, iv).setAAD(Buffer.from(context));
      const sealed = Buffer.concat([iv, cipher.update(text, "utf8"), cipher.final(), cipher.getAuthTag()]);
      return [FORMAT, currentId, sealed.toString("base64url")].join(".");
    },
    open(sealed, context) {
      const [format, id = "", text = ""] = sealed.split(".");
      const secret = secrets.get(id);
      const bytes = Buffer.from(text, "base64url");
      if (format !== FORMAT || !secret || bytes.length < IV_BYTES + TAG_BYTES) throw unreadable(id);
      try {
        const decipher = createDecipheriv(ALGORITHM, secret, bytes.subarray(0, IV_BYTES), {
          authTagLength: TAG_BYTES,
        })
          .setAAD(Buffer.from(context))
          .setAuthTag(bytes.subarray(-TAG_BYTES));
        return (
          decipher.update(bytes.subarray(IV_BYTES, -TAG_BYTES), undefined, "utf8") + decipher.final("utf8")
        );
      } catch {
        throw unreadable(id);
      }
    },
    isCurrent: (sealed) => sealed.startsWith(`${FORMAT}.${currentId}.`),
  };
}

function unreadable(id: string): ThroughlineError {
  return new ThroughlineError(
    "internal",
    `A stored key can't be opened: it was sealed with secret "${id.slice(0, 32)}", or changed since. Is that secret still configured?`,
  );
}
