import { describe, expect, it } from "vitest";
import { identityName } from "../data/identity";
import { expiryOf, identityHeaders, identityOf, labelOf, readSession, writeSession } from "./session";

const jwt = (claims: object) => `e30.${Buffer.from(JSON.stringify(claims)).toString("base64url")}.c2ln`;

describe("a session", () => {
  it("comes back from its cookie as it was", () => {
    for (const session of [
      { kind: "account", account: "acme" },
      { kind: "token", token: jwt({ sub: "ann" }) },
    ] as const) {
      expect(readSession(writeSession(session), session.kind)).toEqual(session);
    }
  });

  it("of one kind of sign-in is none where the other is asked for", () => {
    expect(readSession("account:acme", "token")).toBeUndefined();
    expect(readSession(`token:${jwt({})}`, "account")).toBeUndefined();
  });

  it("is none when the cookie is absent, empty, or holds no account's name", () => {
    for (const cookie of [undefined, "", "account", "account:", "account:a b", "account:a\r\nx-evil: 1"]) {
      expect(readSession(cookie, "account")).toBeUndefined();
    }
  });

  it("tells the service who asks, by account or by token, never both", () => {
    expect(identityHeaders({ kind: "account", account: "acme" })).toEqual({
      "x-throughline-account": "acme",
    });
    expect(identityHeaders({ kind: "token", token: "a.b.c" })).toEqual({ authorization: "Bearer a.b.c" });
  });

  it("has a label that holds nothing of the token itself", () => {
    const token = jwt({ billing_account_id: "acme", sub: "ann", exp: 1_900_000_000 });
    expect(labelOf({ kind: "token", token })).toBe("acme / ann");
    expect(expiryOf({ kind: "token", token })).toBe(1_900_000_000);
    expect(labelOf({ kind: "token", token: "not.a.token" })).toBe("account");
  });

  it("is of an account and of a person, and two people of one account are two", () => {
    const of = (claims: object) => identityName(identityOf({ kind: "token", token: jwt(claims) }));
    expect(of({ billing_account_id: "acme", sub: "ann" })).toBe("acme/ann");
    expect(of({ billing_account_id: "acme", sub: "a/é" })).toBe("acme/a%2F%C3%A9");
    expect(of({ billing_account_id: "acme" })).toBe("acme");
    expect(identityName(identityOf({ kind: "account", account: "acme" }))).toBe("acme");
  });
});
