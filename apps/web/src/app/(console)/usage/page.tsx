import type { Metadata } from "next";
import type { ReactNode } from "react";
import { SpendPage } from "../../../usage/spend-page";

export const metadata: Metadata = { title: "Spend" };

export default function Spend(): ReactNode {
  return <SpendPage />;
}
