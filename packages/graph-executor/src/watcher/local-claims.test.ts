import { describe, expect, it } from "vitest";
import { createLocalClaims } from "./local-claims.js";

describe("claims of one process", () => {
  it("give a run to one follower at a time", async () => {
    const claims = createLocalClaims();
    expect(await claims.claim("t", "r")).toBeDefined();
    expect(await claims.claim("t", "r")).toBeUndefined();
    expect(await claims.claim("t", "other")).toBeDefined();
  });

  it("give a run that was let go to the next one", async () => {
    const claims = createLocalClaims();
    await (await claims.claim("t", "r"))?.release();
    expect(await claims.claim("t", "r")).toBeDefined();
  });

  it("give a run that was followed to its end to nobody", async () => {
    const claims = createLocalClaims();
    await (await claims.claim("t", "r"))?.finish();
    expect(await claims.claim("t", "r")).toBeUndefined();
  });
});
