import type { ReactNode } from "react";
import "@copilotkit/react-core/v2/styles.css";

export const metadata = { title: "CopilotKit on Throughline" };

export default function Layout({ children }: { children: ReactNode }) {
  return (
    <html lang="en">
      <body style={{ margin: 0, height: "100vh" }}>{children}</body>
    </html>
  );
}
