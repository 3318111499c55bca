"use client";

import { type FormEvent, type ReactNode, useEffect, useLayoutEffect, useRef, useState } from "react";
import * as z from "zod/mini";
import { Button } from "../../agent-ui/primitives/button";
import { Field, Input } from "../../agent-ui/primitives/field";
import type { SignIn } from "../../server/session";
import { Logo } from "../../shell/page-frame";
import styles from "./sign-in-form.module.css";

const WORDS = {
  account: {
    label: "Account",
    field: "account",
    hint: "Development sign-in: any name is an account of its own. Nothing is shared between two.",
    type: "text",
  },
  token: {
    label: "Access token",
    field: "token",
    hint: "A JWT from your operator. It is kept in a cookie that scripts can't read, and ends when it expires.",
    type: "password",
  },
} as const;

export function SignInForm({
  signIn,
  target,
}: {
  readonly signIn: SignIn;
  readonly target: string;
}): ReactNode {
  const words = WORDS[signIn];
  const [value, setValue] = useState(signIn === "account" ? "dev" : "");
  const [problem, setProblem] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  const [known, setKnown] = useState<readonly string[]>([]);
  const input = useRef<HTMLInputElement>(null);
  // Restores text that was typed before hydration.
  useLayoutEffect(() => setValue((before) => input.current?.value ?? before), []);
  // In an effect: only the browser's storage has the accounts that were used before.
  useEffect(() => setKnown(signIn === "account" ? readKnownAccounts() : []), [signIn]);

  async function submit(event: FormEvent): Promise<void> {
    event.preventDefault();
    setBusy(true);
    setProblem(undefined);
    const response = await fetch("/api/session", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ [words.field]: value }),
    }).catch(() => undefined);
    if (response?.ok) {
      if (signIn === "account") rememberAccount(value.trim());
      // A full page load: nothing of another account may stay in memory.
      location.assign(target);
      return;
    }
    setBusy(false);
    const body: { message?: string } | undefined = await response?.json().catch(() => undefined);
    setProblem(body?.message ?? "The console does not answer. Check your connection and try again.");
  }

  return (
    <main className={styles.page}>
      <form className={styles.card} onSubmit={submit}>
        <Logo />
        <div>
          <h1>Sign in</h1>
          <p className={styles.lead}>Watch agents, answer them, steer them.</p>
        </div>
        <Field label={words.label} hint={words.hint} problem={problem}>
          <Input
            ref={input}
            name={words.field}
            type={words.type}
            value={value}
            onChange={(event) => setValue(event.target.value)}
            autoComplete="off"
            autoCapitalize="none"
            spellCheck={false}
            required
            autoFocus
          />
        </Field>
        {known.length > 0 && (
          <div className={styles.known}>
            <span className={styles.hint}>Used here before:</span>
            {known.map((account) => (
              <Button key={account} onClick={() => setValue(account)} aria-pressed={account === value}>
                {account}
              </Button>
            ))}
          </div>
        )}
        <Button type="submit" look="primary" disabled={isBusy || value.trim() === ""}>
          {isBusy ? "Signing in…" : "Continue"}
        </Button>
      </form>
    </main>
  );
}

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
    // Storage is optional: sign-in works without it.
  }
}
