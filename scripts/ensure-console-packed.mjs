// @ts-check
import {
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { consoleInputs } from "./ensure-built.mjs";
import { dropStamp, filesBelow, fingerprint, readStamp, writeStamp } from "./fingerprint.mjs";
import { runCommand } from "./run-command.mjs";
import { root, stampFolder } from "./workspace-packages.mjs";

const CONSOLE = join(root, "apps", "web");
/** Below the console's folder: where Next builds what is packed. */
const BUILT = ".next/packed";
/** What `@throughline/console` packs. */
const APP = join(root, "packages", "console", "app");
/** What only makes pictures smaller, which the console's pages never ask for: a program for one platform, and what loads it. */
const LEFT_OUT = /^(sharp|@img\/.*|detect-libc|semver)$/;
const stampPath = join(stampFolder, "build", "console-packed");

/**
 * Builds the console once more, as a server that needs nothing installed, and lays it out below `packages/console`: with the
 * files of Next that it loads, without links, which a tarball can't hold, and without paths of this machine.
 *
 * @returns {Promise<{ built: string[] }>}
 */
export async function ensureConsolePacked() {
  const stamp = () => `${consoleInputs()} ${fingerprint(APP, filesBelow(APP, "server.js"))}`;
  if (existsSync(APP) && readStamp(stampPath) === stamp()) return { built: [] };
  dropStamp(stampPath);
  await runCommand(
    process.execPath,
    [join(CONSOLE, "node_modules", "next", "dist", "bin", "next"), "build"],
    {
      cwd: CONSOLE,
      env: {
        ...process.env,
        NODE_ENV: "production",
        NEXT_TELEMETRY_DISABLED: "1",
        CONSOLE_OUTPUT: "standalone",
        CONSOLE_FOLDER: BUILT,
      },
    },
  );
  layOut(join(CONSOLE, BUILT));
  writeStamp(stampPath, stamp());
  return { built: ["@throughline/console"] };
}

/** @param {string} built */
function layOut(built) {
  const standalone = join(built, "standalone");
  rmSync(APP, { recursive: true, force: true });
  mkdirSync(APP, { recursive: true });
  const own = join(standalone, "apps", "web");
  for (const name of ["server.js", ".next"]) {
    cpSync(join(own, name), join(APP, name), { recursive: true, dereference: true });
  }
  // Next writes one only where a build without `CONSOLE_FOLDER` was made before.
  writeFileSync(join(APP, "package.json"), '{"type": "commonjs"}\n');
  cpSync(join(built, "static"), join(APP, BUILT, "static"), { recursive: true });
  for (const folder of installedPackages(join(standalone, "node_modules", ".pnpm"))) {
    const name = folder.slice(folder.lastIndexOf("node_modules") + "node_modules/".length);
    if (LEFT_OUT.test(name)) continue;
    const target = join(APP, "node_modules", name);
    if (existsSync(target)) throw new Error(`The console loads two versions of ${name}.`);
    mkdirSync(dirname(target), { recursive: true });
    cpSync(folder, target, { recursive: true });
  }
  for (const file of filesOf(APP)) makeMovable(file);
}

/**
 * The folders of packages in pnpm's store that are no links.
 *
 * @param {string} store
 * @returns {string[]}
 */
function installedPackages(store) {
  return readdirSync(store)
    .map((entry) => join(store, entry, "node_modules"))
    .filter((modules) => existsSync(modules) && basename(dirname(modules)) !== "node_modules")
    .flatMap((modules) =>
      readdirSync(modules).flatMap((name) =>
        name.startsWith("@")
          ? readdirSync(join(modules, name)).map((inner) => join(modules, name, inner))
          : join(modules, name),
      ),
    )
    .filter((folder) => lstatSync(folder).isDirectory());
}

/**
 * Next notes where it was built. None of that is read by a server that was moved, and none of it should be told.
 *
 * @param {string} file
 */
function makeMovable(file) {
  const text = readFileSync(file, "latin1");
  if (text.includes(root)) writeFileSync(file, text.replaceAll(root, "/console"), "latin1");
}

/**
 * @param {string} folder
 * @returns {string[]}
 */
function filesOf(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}
