"use client";

import { usePathname } from "next/navigation";
import { useMemo } from "react";
import { type Place, placeOf } from "./routes";

/** Which agent and thread the page is about. */
export function usePlace(): Place {
  const pathname = usePathname();
  return useMemo(() => placeOf(pathname), [pathname]);
}
