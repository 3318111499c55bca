// The service with its console, and the page: Vite serves the page and passes /api on to the service.
import { runCli } from "@throughline/cli";
import { createServer } from "vite";

const code = await runCli(["serve", "--watch", "--console", ...process.argv.slice(2)], {
  async onServing({ url }) {
    const page = await createServer({ configFile: false, server: { proxy: { "/api": url } } });
    await page.listen();
    return `  page      ${page.resolvedUrls?.local[0]}\n  service   ${url}\n`;
  },
});
process.exit(code);
