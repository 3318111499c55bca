import { describe, expect, it } from "vitest";
import { runCli } from "../run-cli.js";
import { recordedTerminal } from "../testing/recorded-terminal.js";

const SECRET = "a secret that is long enough to be one";

async function config(argv: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const terminal = recordedTerminal({ env });
  const code = await runCli(["config", ...argv], { terminal });
  return { code, printed: terminal.printed(), said: terminal.said().join("\n") };
}

describe("throughline config", () => {
  it("tells each value and where it came from", async () => {
    const { printed } = await config(["--port", "9000"], { THROUGHLINE_LOG_LEVEL: "debug", PORT: "1" });
    expect(printed).toMatch(/^PORT +9000 +flag$/m);
    expect(printed).toMatch(/^THROUGHLINE_LOG_LEVEL +debug +env$/m);
    expect(printed).toMatch(/^THROUGHLINE_HOST +127\.0\.0\.1$/m);
    expect(printed).toMatch(/^LANGGRAPH_DATABASE_URL +\(an embedded PostgreSQL\)$/m);
  });

  it("never prints a secret, in either form", async () => {
    const env = {
      THROUGHLINE_JWT_SECRET: SECRET,
      LITELLM_API_KEY: "sk-live",
      LANGGRAPH_DATABASE_URL: "postgres://user:hunter2@db/app?sslpassword=hunter3",
      REDIS_URL: "redis://:hunter4@cache,rediss://user:hunter5@other,third:6379",
    };
    for (const argv of [[], ["--json"]]) {
      const { printed } = await config(argv, env);
      expect(printed).not.toMatch(/hunter\d|sk-live|long enough/);
      expect(printed).toContain("postgres://user:********@db/app?sslpassword=********");
      expect(printed).toContain("redis://:********@cache,rediss://user:********@other,third:6379");
    }
  });

  it("gives programs the same as JSON", async () => {
    const { printed } = await config(["--json", "--drain-ms", "5"]);
    const settings: { env: string }[] = JSON.parse(printed);
    expect(settings.find(({ env }) => env === "THROUGHLINE_DRAIN_MS")).toMatchObject({
      flag: "--drain-ms",
      value: "5",
      origin: "flag",
    });
  });

  it.each([
    [["--port", "eighty"], {}, "--port takes a whole number."],
    [[], { PORT: "eighty" }, "PORT takes a whole number."],
    [["--log-level="], {}, "--log-level must not be empty."],
    [
      [],
      { THROUGHLINE_LOG_LEVEL: "loud" },
      "THROUGHLINE_LOG_LEVEL takes one of silent, error, warn, info, debug.",
    ],
    [["--config", "nowhere.json"], {}, "/nowhere.json: there is no such file."],
    [["--dev-url", "http://a", "--server-url", "http://b"], {}, "are both set"],
  ])("refuses %j with %j by name", async (argv, env, sentence) => {
    const { code, said } = await config(argv, env);
    expect(code).toBe(2);
    expect(said).toContain(sentence);
  });
});
