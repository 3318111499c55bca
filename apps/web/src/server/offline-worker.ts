/** Colours are those of `design/tokens.css`, which can't be loaded while the console is away. */
const PAGE = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Can't reach the console · Throughline</title>
<style>
:root { color-scheme: light dark; }
body { display: grid; place-content: center; min-height: 100dvh; margin: 0; padding: 1.5rem; box-sizing: border-box;
  background: light-dark(oklch(0.988 0.003 95), oklch(0.185 0.008 220));
  color: light-dark(oklch(0.24 0.012 220), oklch(0.945 0.005 95));
  font: 0.875rem/1.65 system-ui, sans-serif; text-align: center; }
main { max-width: 30rem; }
h1 { margin: 0; font-size: 1.125rem; }
button { min-height: 2.5rem; padding: 0 1rem; border: 0; border-radius: 8px; font: inherit; font-weight: 500; cursor: pointer;
  background: light-dark(oklch(0.5 0.095 195), oklch(0.79 0.105 190));
  color: light-dark(oklch(0.99 0.005 195), oklch(0.19 0.02 195)); }
</style>
<main>
<h1>The console can't be reached</h1>
<p>Its server may be restarting, or this device may be offline. Runs go on, and what you wrote is kept in this browser.</p>
<p role="status">This page tries again by itself every few seconds.</p>
<button type="button">Try again now</button>
</main>
<script>
const again = () => location.reload();
document.querySelector("button").addEventListener("click", again);
addEventListener("online", again);
setInterval(() => fetch(location.href, { method: "HEAD", redirect: "manual" }).then(again, () => {}), 3000);
</script>
</html>
`;

/**
 * Serves a page for a navigation that the console's server does not answer. Other requests bypass it: nothing is stored, and a
 * page is never older than the server's own.
 */
export const offlineWorker = `const PAGE = ${JSON.stringify(PAGE)};
const HEADERS = {
  "content-type": "text/html; charset=utf-8",
  "cache-control": "no-store",
  "content-security-policy": "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; connect-src 'self'; frame-ancestors 'none'",
};

addEventListener("install", (event) => {
  skipWaiting();
  // Where the browser can, requests of pages do not even wake this up.
  const modes = ["cors", "same-origin", "no-cors"];
  event.addRoutes?.(modes.map((requestMode) => ({ condition: { requestMode }, source: "network" }))).catch(() => {});
});

addEventListener("activate", (event) => {
  // The request goes out while this starts, so that a page is there as soon as without it.
  event.waitUntil(registration.navigationPreload?.enable());
});

addEventListener("fetch", (event) => {
  if (event.request.mode === "navigate") event.respondWith(answer(event));
});

async function answer(event) {
  try {
    return (await event.preloadResponse) ?? (await fetch(event.request));
  } catch {
    return new Response(PAGE, { status: 503, headers: HEADERS });
  }
}
`;
