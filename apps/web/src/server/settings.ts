import { z } from "zod";

/** `account`: the person at this machine picks a name, for development; `token`: the operator's JWT. */
export type SignIn = "account" | "token";

export interface Settings {
  /** The service's own address, as this process reaches it. Never told to a browser. */
  readonly serviceUrl: URL;
  readonly signIn: SignIn;
}

const settingsSchema = z.object({
  THROUGHLINE_URL: z.url({ protocol: /^https?$/ }).default("http://127.0.0.1:8000"),
  THROUGHLINE_CONSOLE_SIGN_IN: z.enum(["account", "token"]).default("token"),
});

/** Read at each request, not at import: a build must not freeze what the machine it runs on says. */
export function readSettings(env: NodeJS.ProcessEnv = process.env): Settings {
  const read = settingsSchema.safeParse({
    THROUGHLINE_URL: env.THROUGHLINE_URL || undefined,
    THROUGHLINE_CONSOLE_SIGN_IN: env.THROUGHLINE_CONSOLE_SIGN_IN || undefined,
  });
  if (!read.success) {
    const [issue] = read.error.issues;
    throw new Error(`${issue?.path.join(".")}: ${issue?.message}`);
  }
  return {
    serviceUrl: new URL(read.data.THROUGHLINE_URL),
    signIn: read.data.THROUGHLINE_CONSOLE_SIGN_IN,
  };
}
