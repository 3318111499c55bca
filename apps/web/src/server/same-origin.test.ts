import { expect, it } from "vitest";
import { isLoopbackHost } from "./forward";

it("knows this machine by its own names alone", () => {
  for (const host of ["localhost:3000", "127.0.0.1", "[::1]:3000"]) expect(isLoopbackHost(host)).toBe(true);
  for (const host of [null, "", "evil.example", "localhost.evil.example", "127.0.0.1.nip.io", "a b"]) {
    expect(isLoopbackHost(host)).toBe(false);
  }
});
