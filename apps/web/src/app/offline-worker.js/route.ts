import { offlineWorker } from "../../server/offline-worker";

export const dynamic = "force-static";

/** The service worker that shows a page of ours while the console can't be reached. */
export function GET(): Response {
  return new Response(offlineWorker, {
    headers: { "content-type": "text/javascript; charset=utf-8", "cache-control": "no-cache" },
  });
}
