import type { Metadata } from "next";
import type { ReactNode } from "react";
import { CronList } from "../../../crons/cron-list";

export const metadata: Metadata = { title: "Crons" };

export default function CronsPage(): ReactNode {
  return <CronList />;
}
