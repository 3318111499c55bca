import { BlockList, isIP } from "node:net";
import {
  attachmentIdOf,
  type ContentPart,
  type FreshRunStart,
  type Message,
  ThroughlineError,
} from "@throughline/ai-core";
import type { RunInput } from "../threads/run-spec.js";

/** Origins that media of messages may lie at; `*` for every public one. */
export type MediaOrigins = readonly string[];

const MAX_LENGTH = 2_048;

/** Addresses that are not public: IANA's special-purpose registries, and everything that carries an IPv4 address within an IPv6. */
const NOT_PUBLIC = new BlockList();
for (const [network, prefix] of [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["192.88.99.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  ["224.0.0.0", 3],
] as const) {
  NOT_PUBLIC.addSubnet(network, prefix, "ipv4");
}
/** Global unicast is 2000::/3, without tunnels (2001::/23, 2002::/16) and documentation. */
const PUBLIC_IPV6 = new BlockList();
PUBLIC_IPV6.addSubnet("2000::", 3, "ipv6");
for (const [network, prefix] of [
  ["2001::", 23],
  ["2001:db8::", 32],
  ["2002::", 16],
  ["3fff::", 20],
] as const) {
  NOT_PUBLIC.addSubnet(network, prefix, "ipv6");
}

/** Top-level names that mean something inside a network only. */
const INNER_NAMES =
  /(?:^|\.)(?:localhost|local|localdomain|internal|intranet|lan|home|corp|private|home\.arpa|test|invalid|example|onion|alt)$/;

/**
 * The reason why a URL may not be passed to a model provider, which may fetch it; `undefined` where it may. Checks the URL
 * itself, not its target: neither a redirect nor what a name resolves to can be seen here.
 */
export function mediaUrlProblem(text: string, origins: MediaOrigins): string | undefined {
  if (text.length > MAX_LENGTH) return `is longer than ${MAX_LENGTH} characters`;
  const [, authority = ""] = /^https:\/\/([^/?#\\\s]*)(?:[/?#]|$)/i.exec(text) ?? [];
  if (authority === "" || !URL.canParse(text)) return "must be an https: URL";
  const url = new URL(text);
  if (authority.includes("@")) return "must name no user";
  // The parser makes an address of 0x7f.1, 2130706433, 127.1 and of full-width digits: who writes one like that hides it.
  if (url.host !== authority.toLowerCase().replace(/:443$/, "")) return "must name its host in plain form";
  const problem = hostProblem(url.hostname);
  if (problem !== undefined) return problem;
  if (origins.includes(url.origin)) return undefined;
  if (!origins.includes("*")) return "must be at an origin that this service allows for media";
  return url.port === "" ? undefined : "must use the port of https";
}

function hostProblem(host: string): string | undefined {
  const address = host.replace(/^\[(.*)\]$/, "$1");
  switch (isIP(address)) {
    case 4:
      return NOT_PUBLIC.check(address, "ipv4") ? "must be at a public address" : undefined;
    case 6:
      return PUBLIC_IPV6.check(address, "ipv6") && !NOT_PUBLIC.check(address, "ipv6")
        ? undefined
        : "must be at a public address";
  }
  if (host.endsWith(".") || !host.includes(".")) return "must have a full host name without a dot at its end";
  return INNER_NAMES.test(host) ? "must be at a public host" : undefined;
}

/**
 * Throws `invalid_input` naming the part of a message that is new to the thread and names media by a URL that is not allowed.
 * Media that the thread already holds was admitted before, and is not checked again.
 */
export function checkMediaUrls(start: FreshRunStart, input: RunInput, origins: MediaOrigins): void {
  if (start.kind === "resume" || !("messages" in input)) return;
  for (const message of start.messages) {
    for (const [partIndex, url] of mediaUrlsOf(message)) {
      const problem = mediaUrlProblem(url, origins);
      if (problem === undefined) continue;
      const index = input.messages.findIndex(({ id }) => id === message.id);
      const field = `messages.${index}.content.${partIndex}`;
      throw new ThroughlineError(
        "invalid_input",
        `${field}: the URL ${problem}. Upload the file and name the attachment instead, or ask the operator to allow its origin (THROUGHLINE_MEDIA_ORIGINS).`,
        { details: { field } },
      );
    }
  }
}

function mediaUrlsOf({ content }: Message): readonly (readonly [partIndex: number, url: string])[] {
  if (typeof content === "string") return [];
  return content.flatMap((part, partIndex) => {
    const url = urlOf(part);
    return url === undefined || attachmentIdOf(url) !== undefined ? [] : [[partIndex, url] as const];
  });
}

/** The URL of a part's media. */
export function urlOf({ image_url: image, url }: ContentPart): string | undefined {
  if (typeof image === "object" && image !== null && "url" in image && typeof image.url === "string") {
    return image.url;
  }
  return typeof url === "string" ? url : undefined;
}
