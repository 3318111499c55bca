import { createSimulatedClock } from "@throughline/ai-core";
import { describe, expect, it } from "vitest";
import { createFileLinks } from "./file-links.js";

const SECRET = "a secret of at least thirty-two bytes";
const HOUR_MS = 3_600_000;
const file = { thread: { account: "acme", subject: "ann", threadId: "t" }, id: "one" };
const base = "https://agents.example.org/throughline";

function open(secret?: string) {
  const clock = createSimulatedClock(10 * HOUR_MS + 5);
  return { clock, links: createFileLinks({ clock, ...(secret !== undefined && { secret }) }) };
}

const tokenOf = (url: string) => url.slice(url.lastIndexOf("/") + 1);

describe("A link to a file", () => {
  it("leads to its file on every instance with the same secret, and on no other", () => {
    const url = open(SECRET).links.linkTo(base, file);
    expect(url.startsWith(`${base}/files/`)).toBe(true);
    expect(open(SECRET).links.read(tokenOf(url))).toEqual(file);
    expect(open().links.read(tokenOf(url))).toBeUndefined();
    const ofAll = { thread: { account: "acme", threadId: "t" }, id: "one" };
    const { links } = open();
    expect(links.read(tokenOf(links.linkTo(base, ofAll)))).toEqual(ofAll);
  });

  it("is valid for one to two hours, and the same within an hour, so that frames can be shared", () => {
    const { clock, links } = open();
    const url = links.linkTo(base, file);
    clock.advance(HOUR_MS - 10);
    expect(links.linkTo(base, file)).toBe(url);
    clock.advance(10);
    expect(links.linkTo(base, file)).not.toBe(url);
    expect(links.read(tokenOf(url))).toEqual(file);
    clock.advance(HOUR_MS);
    expect(links.read(tokenOf(url))).toBeUndefined();
  });

  it("leads nowhere once a letter of it was changed", () => {
    const { links } = open();
    const token = tokenOf(links.linkTo(base, file));
    const [claims = "", signature = ""] = token.split(".");
    const other = Buffer.from(JSON.stringify(["umbrella", null, "t", "one", 9e15])).toString("base64url");
    for (const forged of [`${other}.${signature}`, `${claims}.${signature.slice(1)}A`, claims, "", "a.b.c"]) {
      expect(links.read(forged)).toBeUndefined();
    }
  });

  it("is known again when a client sends it back, also when it is no longer valid", () => {
    const { clock, links } = open();
    const url = links.linkTo(base, file);
    clock.advance(5 * HOUR_MS);
    expect(links.recognise(url)).toEqual(file);
    expect(links.recognise("https://example.org/files/cat.png")).toBeUndefined();
    expect(links.recognise(`${url}?x`)).toBeUndefined();
  });
});
