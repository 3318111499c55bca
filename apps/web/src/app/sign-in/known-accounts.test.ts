import { expect, it } from "vitest";
import { readKnownAccounts, rememberAccount } from "./sign-in-form";

function memory(initial?: string) {
  let value: string | null = initial ?? null;
  return {
    getItem: () => value,
    setItem(_: string, next: string) {
      value = next;
    },
  };
}

it("has the last account first, each once, and no more than five", () => {
  const storage = memory();
  for (const account of ["a", "b", "c", "d", "e", "f", "b"]) rememberAccount(account, storage);
  expect(readKnownAccounts(storage)).toEqual(["b", "f", "e", "d", "c"]);
});

it("begins anew where something else is stored", () => {
  expect(readKnownAccounts(memory("{"))).toEqual([]);
  expect(readKnownAccounts(memory('{"a":1}'))).toEqual([]);
});
