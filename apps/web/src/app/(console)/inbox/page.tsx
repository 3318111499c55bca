import type { Metadata } from "next";
import type { ReactNode } from "react";
import { InboxPage } from "../../../inbox/inbox-page";

export const metadata: Metadata = { title: "Inbox" };

export default function Inbox(): ReactNode {
  return <InboxPage />;
}
