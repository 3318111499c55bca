import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { type RunningService, runService } from "./run-service.mjs";

/** Notes its arguments, says that it serves, and ends with the next code it was given; "wait": when it is told to. */
const PROGRAM = `
import { appendFileSync, readFileSync } from "node:fs";
const { args, hasWelcome } = JSON.parse(process.argv[2]);
const [codes, notes, ...rest] = args;
appendFileSync(notes, JSON.stringify([rest, hasWelcome]) + "\\n");
const code = codes.split(",")[readFileSync(notes, "utf8").trim().split("\\n").length - 1];
process.on("message", () => process.exit(0));
process.send({ url: "http://127.0.0.1:4321", agents: [], signIn: "dev" }, () => {
  if (code !== "wait") process.exit(Number(code));
});
`;

let folder: string;
let said: string[];
let served: number;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "service-"));
  writeFileSync(join(folder, "program.mjs"), PROGRAM);
  said = [];
  served = 0;
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function run(...codes: readonly (number | "wait")[]): RunningService {
  return runService({
    order: { args: [codes.join(","), join(folder, "notes"), "--port", "0"], defaults: {}, hasWelcome: true },
    onServing: () => {
      served += 1;
    },
    onTrouble: (sentence) => void said.push(sentence),
    program: join(folder, "program.mjs"),
  });
}
const starts = () =>
  readFileSync(join(folder, "notes"), "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));

it("restarts a service that asks for it, on its port, and says so", async () => {
  expect(await run(70, 70, 0).ended).toBe(0);
  const again = [["--port", "0", "--port", "4321"], false];
  expect(starts()).toEqual([[["--port", "0"], true], again, again]);
  expect(said).toHaveLength(2);
  expect(said[0]).toMatch(/exit code 70\)\. Restarting it\.$/);
  expect(served).toBe(1);
});

it("gives up after three restarts within a minute", async () => {
  expect(await run(70, 70, 70, 70, 0).ended).toBe(70);
  expect(starts()).toHaveLength(4);
  expect(said.at(-1)).toMatch(/giving up\.$/);
});

it.each([0, 1, 143])("does not restart a service that ends with %i", async (code) => {
  expect(await run(code).ended).toBe(code);
  expect(said).toEqual([]);
});

it("ends the service when it is told to, and passes signals on", async () => {
  const stopped = run("wait");
  await expect.poll(() => served).toBe(1);
  stopped.stop();
  expect(await stopped.ended).toBe(0);
  rmSync(join(folder, "notes"));
  const signalled = run("wait");
  await expect.poll(() => served).toBe(2);
  signalled.signal("SIGTERM");
  expect(await signalled.ended).toBe(143);
  expect(said).toEqual([]);
});
