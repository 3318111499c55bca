import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";

/**
 * What a page downloads for one export of a package, its dependencies included.
 *
 * @param {string} statement an `export … from …`
 */
export async function bundleSize(statement) {
  const { outputFiles } = await build({
    stdin: { contents: statement, resolveDir: fileURLToPath(new URL(".", import.meta.url)) },
    bundle: true,
    minify: true,
    format: "esm",
    platform: "browser",
    define: { "process.env.NODE_ENV": '"production"' },
    write: false,
    logLevel: "error",
  });
  const [{ contents }] = outputFiles;
  return { minified: contents.length, gzip: gzipSync(contents, { level: 9 }).length };
}
