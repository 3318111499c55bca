import type { Metadata } from "next";
import type { ReactNode } from "react";
import { NewCron } from "../../../../crons/new-cron";

export const metadata: Metadata = { title: "New cron" };

export default function NewCronPage(): ReactNode {
  return <NewCron />;
}
