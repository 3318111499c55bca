import type { Metadata, Viewport } from "next";
import { cookies } from "next/headers";
import type { ReactNode } from "react";
import "@fontsource-variable/geist";
import "@fontsource-variable/geist-mono";
import "../design/tokens.css";
import "../design/base.css";

export const metadata: Metadata = {
  title: { default: "Throughline", template: "%s · Throughline" },
  description: "Watch agents, answer them, steer them.",
};

export const viewport: Viewport = { width: "device-width", initialScale: 1 };

export default async function RootLayout({ children }: { readonly children: ReactNode }): Promise<ReactNode> {
  // A cookie and not the page's storage, so that the first paint has the right colours.
  const theme = (await cookies()).get("throughline_theme")?.value;
  return (
    <html lang="en" {...((theme === "light" || theme === "dark") && { "data-theme": theme })}>
      <body>{children}</body>
    </html>
  );
}
