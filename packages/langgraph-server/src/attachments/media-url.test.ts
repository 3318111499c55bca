import { describe, expect, it } from "vitest";
import { checkMediaUrls, mediaUrlProblem } from "./media-urls.js";

describe("A URL of media", () => {
  it.each([
    "https://cdn.example.org/cat.png",
    "https://cdn.example.org:443/cat.png?size=2#top",
    "HTTPS://CDN.example.ORG/cat.png",
    "https://8.8.8.8/cat.png",
    "https://[2606:4700::1111]/cat.png",
    "https://xn--bcher-kva.de/cat.png",
  ])("is let in where every public origin is: %s", (url) => {
    expect(mediaUrlProblem(url, ["*"])).toBeUndefined();
  });

  it.each([
    ["loopback", "https://127.0.0.1/x"],
    ["loopback by name", "https://localhost/x"],
    ["loopback below a name", "https://db.localhost/x"],
    ["a short address", "https://127.1/x"],
    ["a decimal address", "https://2130706433/x"],
    ["a public address in decimal", "https://134744072/x"],
    ["an octal address", "https://0177.0.0.1/x"],
    ["a hexadecimal address", "https://0x7f000001/x"],
    ["full-width digits", "https://１２７.０.０.１/x"],
    ["a percent-encoded host", "https://127%2e0.0.1/x"],
    ["a dot of another script", "https://127。0。0。1/x"],
    ["10/8", "https://10.1.2.3/x"],
    ["172.16/12", "https://172.31.255.255/x"],
    ["192.168/16", "https://192.168.0.1/x"],
    ["shared address space", "https://100.64.0.1/x"],
    ["cloud metadata", "https://169.254.169.254/latest/meta-data"],
    ["metadata by name", "https://metadata.google.internal/x"],
    ["metadata over IPv6", "https://[fd00:ec2::254]/x"],
    ["nothing", "https://0.0.0.0/x"],
    ["multicast", "https://224.0.0.1/x"],
    ["IPv6 loopback", "https://[::1]/x"],
    ["IPv6 unspecified", "https://[::]/x"],
    ["IPv4 in IPv6", "https://[::ffff:127.0.0.1]/x"],
    ["IPv4 in IPv6, in hexadecimal", "https://[::ffff:7f00:1]/x"],
    ["NAT64", "https://[64:ff9b::7f00:1]/x"],
    ["6to4", "https://[2002:7f00:1::]/x"],
    ["link-local", "https://[fe80::1]/x"],
    ["unique local", "https://[fd12:3456::1]/x"],
    ["a name without a dot", "https://intranet/x"],
    ["a dot at the end", "https://cdn.example.org./x"],
    ["a dot at the end of an address", "https://127.0.0.1./x"],
    ["a user", "https://cdn.example.org@evil.org/x"],
    ["an empty user", "https://@cdn.example.org/x"],
    ["another port", "https://cdn.example.org:8443/x"],
    ["http", "http://cdn.example.org/x"],
    ["a file", "file:///etc/passwd"],
    ["a backslash", "https://cdn.example.org\\@127.0.0.1/x"],
    ["a line break", "https://cdn.exam\nple.org/x"],
    ["leading space", " https://cdn.example.org/x"],
    ["too long", `https://cdn.example.org/${"x".repeat(2_048)}`],
    ["no host", "https:///x"],
  ])("is refused, whatever origins are allowed, where it is %s", (_, url) => {
    expect(mediaUrlProblem(url, ["*"])).toBeTypeOf("string");
  });

  it("is let in at an allowed origin alone, and at its port", () => {
    const origins = ["https://cdn.example.org", "https://media.example.org:8443"];
    expect(mediaUrlProblem("https://cdn.example.org/cat.png", origins)).toBeUndefined();
    expect(mediaUrlProblem("https://media.example.org:8443/cat.png", origins)).toBeUndefined();
    for (const url of [
      "https://cdn.example.org.evil.org/x",
      "https://evil.org/https://cdn.example.org/",
      "https://cdn.example.org:8443/x",
      "https://media.example.org/x",
    ]) {
      expect(mediaUrlProblem(url, origins), url).toContain("origin");
    }
    expect(mediaUrlProblem("https://10.0.0.1/x", ["https://10.0.0.1"])).toContain("public address");
    expect(mediaUrlProblem("https://cdn.example.org/cat.png", [])).toContain("origin");
  });

  it("is asked for of new messages only, in whichever form they name it", () => {
    const parts = [
      { type: "image_url", image_url: { url: "https://10.0.0.1/cat.png" } },
      { type: "file", source_type: "url", url: "https://10.0.0.1/cat.pdf" },
    ];
    for (const part of parts) {
      const held = { id: "held", role: "user" as const, content: [part] };
      const fresh = { id: "new", role: "user" as const, content: [{ type: "text", text: "Look." }, part] };
      const input = { kind: "input" as const, messages: [held, fresh] };
      expect(() => checkMediaUrls({ kind: "input", messages: [] }, input, [])).not.toThrow();
      expect(() => checkMediaUrls({ kind: "input", messages: [fresh] }, input, [])).toThrow(
        expect.objectContaining({ code: "invalid_input", details: { field: "messages.1.content.1" } }),
      );
    }
  });
});
