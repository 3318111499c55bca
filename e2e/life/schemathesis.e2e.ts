import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type RigPostgres, startPostgres } from "../server/rig/start-postgres.js";
import { type RigServer, startServer } from "../server/rig/start-server.js";
import { SEED, trialsOr } from "../server/rig/trials.js";
import { installSchemathesis } from "./schemathesis/install-schemathesis.js";

const FOLDER = join(dirname(fileURLToPath(import.meta.url)), "schemathesis");
const TIMEOUT = 1_200_000;
/** Beside those it makes of each operation's schema by plan, some 60 each. */
const EXAMPLES_EACH = trialsOr(20);

const command = await installSchemathesis();

if (command !== undefined) describeService(command);
else if (process.env.CI === "true") {
  it("finds Schemathesis, which is part of this test", () => {
    throw new Error("Schemathesis could not be installed: it needs Python 3.10 and PyPI.");
  });
} else {
  it("leaves Schemathesis out, for neither it nor PyPI is within reach", () => {
    console.log("Left out: Schemathesis. It needs Python 3.10 and PyPI.");
  });
}

function describeService(schemathesis: string): void {
  let postgres: RigPostgres;
  let server: RigServer;
  let folder: string;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "throughline-schemathesis-"));
    postgres = await startPostgres();
    server = await startServer({
      databaseUrl: await postgres.createDatabase(),
      env: { THROUGHLINE_MAX_CONCURRENT_RUNS: "100000", THROUGHLINE_MAX_WATCHERS: "100000" },
    });
  });
  afterAll(async () => {
    await server?.stop();
    await postgres?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  function run(): Promise<{ readonly code: number; readonly output: string }> {
    const args = [
      ...["--config-file", join(FOLDER, "schemathesis.toml")],
      ...["run", `${server.url}/openapi.json`, "--no-color", "--continue-on-failure"],
      ...["--phases", "coverage,fuzzing", "--max-examples", String(EXAMPLES_EACH), "--seed", String(SEED)],
      // Dev sign-in takes every caller. Not all that is refused can be said in a schema: a schedule's syntax, a name that is taken.
      ...["--checks", "all", "--exclude-checks", "ignored_auth,positive_data_acceptance"],
      ...["--generation-with-security-parameters", "false", "--header", "x-throughline-account:tested"],
      ...["--generation-database", "none", "--request-timeout", "30", "--warnings", "off"],
    ];
    const env = { ...process.env, SCHEMATHESIS_HOOKS: "hooks", PYTHONPATH: FOLDER };
    return new Promise((resolve) => {
      const options = { cwd: folder, env, maxBuffer: 2 ** 26, timeout: TIMEOUT };
      execFile(schemathesis, args, options, (error, stdout, stderr) => {
        resolve({ code: error ? 1 : 0, output: `${stdout}${stderr}` });
      });
    });
  }

  describe("Schemathesis, which knows only /openapi.json,", () => {
    it(
      "finds every operation answering as documented",
      async () => {
        const { code, output } = await run();
        expect(code, output).toBe(0);
        expect(output).toMatch(/[1-9]\d{2,} generated, [1-9]\d{2,} passed/);
      },
      TIMEOUT,
    );
  });
}
