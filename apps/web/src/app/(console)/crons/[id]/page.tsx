import type { Metadata } from "next";
import type { ReactNode } from "react";
import { CronDetail } from "../../../../crons/cron-detail";

export const metadata: Metadata = { title: "Cron" };

export default async function CronPage({
  params,
}: {
  readonly params: Promise<{ readonly id: string }>;
}): Promise<ReactNode> {
  const { id } = await params;
  return <CronDetail id={decodeURIComponent(id)} />;
}
