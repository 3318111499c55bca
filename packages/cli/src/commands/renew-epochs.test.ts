import { afterAll, beforeAll, expect, it } from "vitest";
import { openServiceScene } from "../../../langgraph-server/src/testing/service-scene.js";
import { openTestPostgres, type TestPostgres } from "../../../langgraph-server/src/testing/test-postgres.js";
import { runCli } from "../run-cli.js";
import { recordedTerminal } from "../testing/recorded-terminal.js";

let postgres: TestPostgres;
beforeAll(async () => {
  postgres = await openTestPostgres();
});
afterAll(() => postgres.close());

const openScene = () => openServiceScene({ store: { kind: "postgres", databaseUrl: postgres.url } });

async function renewEpochs() {
  const terminal = recordedTerminal({ env: { LANGGRAPH_DATABASE_URL: postgres.url } });
  const code = await runCli(["renew-epochs"], { terminal });
  return { code, said: [...terminal.said(), terminal.printed()].join("") };
}

it("throughline renew-epochs refuses beside an instance; without one, viewers go on where the log still is as they saw it", async () => {
  const before = await openScene();
  const thread = before.thread("poet");
  const frames = (await before.run(thread, "Write about tides")).frames;
  const cursor = frames.findLast(({ id }) => id !== undefined)?.id ?? "";
  expect(await renewEpochs()).toMatchObject({ code: 1, said: expect.stringContaining("Stop all of them") });
  await before.close();
  expect(await renewEpochs()).toEqual({ code: 0, said: "Renewed the epochs of 1 thread.\n" });
  const after = await openScene();
  const epoch = (await after.service.log.head(thread.ref))?.epoch;
  const [old, seq, ...rest] = cursor.split(".");
  expect(epoch).not.toBe(old);
  const comeBack = async (lastSeen: string) => {
    const watching = after.watch(thread, { kind: "cursor", cursor: lastSeen });
    await watching.ended;
    return watching.types();
  };
  expect(await comeBack(cursor)).not.toContain("MESSAGES_SNAPSHOT");
  expect(await comeBack([old, Number(seq) + 1, ...rest].join("."))).toContain("MESSAGES_SNAPSHOT");
  await after.close();
});
