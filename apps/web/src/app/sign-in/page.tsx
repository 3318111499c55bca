import type { Metadata } from "next";
import type { ReactNode } from "react";
import { readSettings } from "../../server/session";
import { SignInForm } from "./sign-in-form";

export const metadata: Metadata = { title: "Sign in" };

interface Props {
  readonly searchParams: Promise<{ readonly to?: string }>;
}

export default async function SignInPage({ searchParams }: Props): Promise<ReactNode> {
  const { to } = await searchParams;
  // Only a path of this site: `//elsewhere` would be another one.
  const target = to !== undefined && /^\/(?![/\\])/.test(to) ? to : "/";
  return <SignInForm signIn={readSettings().signIn} target={target} />;
}
