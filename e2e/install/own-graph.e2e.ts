import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type StartedCommand, type Stranger, stranger } from "./rig/stranger.js";
import { tarballDependencies } from "./rig/tarballs.js";

const EXAMPLE = resolve(import.meta.dirname, "../../examples/own-graph");
const LONG = 900_000;
const PATIENCE = { timeout: 120_000, interval: 50 };

describe("examples/own-graph", { timeout: LONG }, () => {
  let person: Stranger;
  let server: StartedCommand;
  const throughline = () => join(person.folder, "node_modules", ".bin", "throughline");

  beforeAll(async () => {
    person = stranger();
    cpSync(EXAMPLE, person.folder, { recursive: true });
    const path = join(person.folder, "package.json");
    const manifest = JSON.parse(readFileSync(path, "utf8"));
    const dependencies = { ...manifest.dependencies, ...tarballDependencies() };
    // Without the console, as the README begins.
    delete dependencies["@throughline/console"];
    writeFileSync(path, JSON.stringify({ ...manifest, dependencies }));
    await person.run("npm", ["install", "--no-audit", "--no-fund"]);
  }, LONG);
  afterAll(() => person.leave(), LONG);

  const url = () => /http:\/\/127\.0\.0\.1:\d+/.exec(server.printed())?.[0] ?? "";
  const env = () => ({ THROUGHLINE_URL: url() });

  it("asks for a name, and greets by it", async () => {
    server = person.start("npm", ["start", "--", "--port", "0"]);
    await expect.poll(server.printed, PATIENCE).toContain("Ctrl-C stops everything.");
    const answer = `printf 'Ada\\n' | '${throughline()}' run greeter 'good morning' --thread hello`;
    const said = await person.run("sh", ["-c", answer], { env: env() });
    expect(said).toContain("? What is your name?");
    expect(said).toContain("Hello, Ada.");
  });

  it("is loaded anew when its graph is edited", async () => {
    const source = join(person.folder, "src", "greeter.ts");
    writeFileSync(source, readFileSync(source, "utf8").replace("Hello, ", "Good day, "));
    await expect.poll(server.printed, PATIENCE).toContain("↻ reloaded: greeter");
    const answer = `printf 'Ada\\n' | '${throughline()}' run greeter 'again' --thread other`;
    expect(await person.run("sh", ["-c", answer], { env: env() })).toContain("Good day, Ada.");
  });

  it("says what to install where the console is asked for and is not there", async () => {
    await expect(person.run(throughline(), ["serve", "--console", "--port", "0"])).rejects.toThrow(
      "Run: npm install @throughline/console",
    );
  });
});
