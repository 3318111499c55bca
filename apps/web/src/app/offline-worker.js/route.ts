import { offlineWorker } from "../../server/offline-worker";

export const dynamic = "force-static";

/** Serves the service worker that shows our own page while the console can't be reached. */
export function GET(): Response {
  return new Response(offlineWorker, {
    headers: { "content-type": "text/javascript; charset=utf-8", "cache-control": "no-cache" },
  });
}
