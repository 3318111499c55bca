import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { makeFolder, type TestFolder } from "../testing/test-folder.js";
import { loadConsole } from "./serve-console.js";

let folder: TestFolder;
beforeEach(() => {
  folder = makeFolder();
});
afterEach(() => folder.remove());

/** A console whose only address is its own name. */
function consoleNamed(name: string): string {
  const path = join(folder.path, `${name}.mjs`);
  writeFileSync(path, `export const reachableUrl = () => "${name}";`);
  return path;
}

it("takes the console of the project that is served before the one beside the command", async () => {
  const theirs = consoleNamed("theirs");
  const beside = consoleNamed("beside");
  const isTheirs = (place: string) => place.startsWith(folder.path);
  const both = await loadConsole(folder.path, (place) => (isTheirs(place) ? theirs : beside));
  expect(both.reachableUrl("")).toBe("theirs");
  const one = await loadConsole(folder.path, (place) => (isTheirs(place) ? undefined : beside));
  expect(one.reachableUrl("")).toBe("beside");
});

it("says what to type where no console is installed", async () => {
  await expect(loadConsole(folder.path, () => undefined)).rejects.toThrow(
    "--console needs @throughline/console, which is not installed here. Run: npm install @throughline/console",
  );
});
