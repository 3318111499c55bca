import type { Metadata } from "next";
import type { ReactNode } from "react";
import { SpendPage } from "../../../spend/spend-page";

export const metadata: Metadata = { title: "Spend" };

export default function Spend(): ReactNode {
  return <SpendPage />;
}
