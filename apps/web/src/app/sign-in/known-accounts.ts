import * as z from "zod/mini";

const KEY = "throughline:accounts";
const REMEMBERED = 5;

const accountsSchema = z.array(z.string());

/** Development accounts that were used in this browser, the last one first. */
export function readKnownAccounts(storage: Pick<Storage, "getItem"> = localStorage): readonly string[] {
  try {
    return accountsSchema.parse(JSON.parse(storage.getItem(KEY) ?? "[]"));
  } catch {
    return [];
  }
}

export function rememberAccount(
  account: string,
  storage: Pick<Storage, "getItem" | "setItem"> = localStorage,
): void {
  const others = readKnownAccounts(storage).filter((one) => one !== account);
  try {
    storage.setItem(KEY, JSON.stringify([account, ...others].slice(0, REMEMBERED)));
  } catch {
    // A browser that stores nothing signs in all the same.
  }
}
