import { mkdirSync, readFileSync, readlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { linkLibraries } from "./cluster.js";
import { makeTempFolder } from "./testing/temp-folder.js";

it("makes the links that an install without scripts leaves out, and leaves those that are there", async () => {
  const folder = makeTempFolder();
  try {
    const native = join(folder.path, "native");
    mkdirSync(join(native, "lib"), { recursive: true });
    writeFileSync(join(native, "lib", "libpq.so.5.18"), "library");
    const links = ["libpq.so", "libpq.so.5"].map((name) => ({
      source: "native/lib/libpq.so.5.18",
      target: `native/lib/${name}`,
    }));
    writeFileSync(join(native, "pg-symlinks.json"), JSON.stringify(links));
    await linkLibraries(native);
    await linkLibraries(native);
    expect(readFileSync(join(native, "lib", "libpq.so.5"), "utf8")).toBe("library");
    expect(readlinkSync(join(native, "lib", "libpq.so"))).toBe("libpq.so.5.18");
  } finally {
    folder.remove();
  }
});

it("has nothing to do where the package of binaries lists no links", async () => {
  const folder = makeTempFolder();
  try {
    await linkLibraries(folder.path);
  } finally {
    folder.remove();
  }
});
