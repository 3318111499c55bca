import type { Metadata } from "next";
import type { ReactNode } from "react";
import { UsagePage } from "../../../usage/usage-page";

export const metadata: Metadata = { title: "Usage" };

export default function Usage(): ReactNode {
  return <UsagePage />;
}
