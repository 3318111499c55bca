"use client";

import { usePathname } from "next/navigation";
import { useMemo } from "react";
import { parseRoute, type Route } from "./routes";

/** Returns the agent and thread of the current page. */
export function useRoute(): Route {
  const pathname = usePathname();
  return useMemo(() => parseRoute(pathname), [pathname]);
}
