import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import type { NextConfig } from "next";

const here = dirname(fileURLToPath(import.meta.url));

const config: NextConfig = {
  turbopack: { root: dirname(dirname(here)) },
  // For the image and the package: a folder with the server and only the files that it loads.
  ...(process.env.CONSOLE_OUTPUT === "standalone" && { output: "standalone" }),
  // What is packed is built beside what `npm start` runs, so that neither makes the other build again.
  ...(process.env.CONSOLE_FOLDER && { distDir: process.env.CONSOLE_FOLDER }),
  // No page asks for pictures that are made smaller here, and what would make them is a program for one platform.
  images: { unoptimized: true },
  reactStrictMode: true,
  poweredByHeader: false,
  // The workspace's own check runs tsc over this folder too: a build need not do it again.
  typescript: { ignoreBuildErrors: true },
};

export default config;
