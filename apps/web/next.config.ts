import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import type { NextConfig } from "next";

const here = dirname(fileURLToPath(import.meta.url));

const config: NextConfig = {
  turbopack: { root: dirname(dirname(here)) },
  // For the image: a folder with the server and only the files that it loads.
  ...(process.env.CONSOLE_OUTPUT === "standalone" && { output: "standalone" }),
  reactStrictMode: true,
  poweredByHeader: false,
  // The workspace's own check runs tsc over this folder too: a build need not do it again.
  typescript: { ignoreBuildErrors: true },
};

export default config;
