import type { Metadata } from "next";
import type { ReactNode } from "react";
import { Home } from "../../agents/home";

export const metadata: Metadata = { title: "Agents" };

export default function HomePage(): ReactNode {
  return <Home />;
}
