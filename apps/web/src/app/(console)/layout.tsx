import { cookies } from "next/headers";
import { redirect } from "next/navigation";
import type { ReactNode } from "react";
import { identityOf, readSession, readSettings, SESSION_COOKIE } from "../../server/session";
import { Console } from "../../shell/providers";

export default async function ConsoleLayout({
  children,
}: {
  readonly children: ReactNode;
}): Promise<ReactNode> {
  const session = readSession((await cookies()).get(SESSION_COOKIE)?.value, readSettings().signIn);
  if (!session) redirect("/sign-in");
  return <Console identity={identityOf(session)}>{children}</Console>;
}
