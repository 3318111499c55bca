import { cookies } from "next/headers";
import { redirect } from "next/navigation";
import type { ReactNode } from "react";
import { Console } from "../../console/console";
import { identityOf, readSession, SESSION_COOKIE } from "../../server/session";
import { readSettings } from "../../server/settings";

export default async function ConsoleLayout({
  children,
}: {
  readonly children: ReactNode;
}): Promise<ReactNode> {
  const session = readSession((await cookies()).get(SESSION_COOKIE)?.value, readSettings().signIn);
  if (!session) redirect("/sign-in");
  return <Console identity={identityOf(session)}>{children}</Console>;
}
