import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { runThroughline } from "../testing/run-throughline.js";
import { makeFolder, type TestFolder } from "../testing/test-folder.js";

let folder: TestFolder;
beforeEach(() => {
  folder = makeFolder();
});
afterEach(() => folder.remove());

describe("throughline init", () => {
  it("makes a project in a folder of that name, and says what to type next", async () => {
    const project = join(folder.path, "My Agent");
    const { code, printed } = await runThroughline(["init", project]);
    expect(code).toBe(0);
    expect(printed).toContain("made my-agent: a graph, its server and a page");
    expect(printed).toContain("npm start");
    expect(existsSync(join(project, "src", "agent.ts"))).toBe(true);
    expect(JSON.parse(readFileSync(join(project, "package.json"), "utf8"))).toMatchObject({
      name: "my-agent",
    });
  });

  it("refuses a folder that holds something, in one line and with code 2", async () => {
    await runThroughline(["init", folder.path]);
    const { code, said, printed } = await runThroughline(["init", folder.path]);
    expect([code, printed]).toEqual([2, ""]);
    expect(said).toBe(`${folder.path} is not empty. Name a folder that is empty or does not exist.`);
  });
});
