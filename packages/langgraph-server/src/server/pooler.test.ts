import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { findMissingPooler, openPooledPostgres, type PooledPostgres } from "../testing/pooled-postgres.js";
import { openServiceScene } from "../testing/service-scene.js";
import { openTestPostgres } from "../testing/test-postgres.js";
import { checkDatabase } from "./doctor/check-database.js";

const missing = await findMissingPooler();

describe.skipIf(missing !== undefined)("A database behind a pooler in transaction mode", () => {
  let postgres: PooledPostgres;
  beforeAll(async () => {
    postgres = await openPooledPostgres();
  });
  afterAll(() => postgres?.close());

  const openScene = () =>
    openServiceScene({
      store: { kind: "postgres", databaseUrl: postgres.url, databaseDirectUrl: postgres.directUrl },
    });

  it("serves runs, and another instance's subscriber sees them", async () => {
    const scenes = await Promise.all([openScene(), openScene()]);
    const [driving, watching] = scenes;
    const thread = driving.thread("poet");
    const first = await driving.run(thread, "Write about rain");
    expect(first.types().at(-1)).toBe("RUN_FINISHED");
    const runs = await Promise.all(
      Array.from({ length: 10 }, () => driving.run(driving.thread("poet"), "Write about wind")),
    );
    for (const run of runs) expect(run.types().at(-1)).toBe("RUN_FINISHED");
    const elsewhere = await watching.run(thread, "And again");
    expect(elsewhere.types().at(-1)).toBe("RUN_FINISHED");
    for (const { failures } of scenes) expect(failures).toEqual([]);
    await Promise.all(scenes.map((scene) => scene.close()));
  });

  it("is refused at the start without the server's own address, by the variable's name", async () => {
    await expect(
      openServiceScene({ store: { kind: "postgres", databaseUrl: postgres.url } }),
    ).rejects.toThrow("LANGGRAPH_DATABASE_DIRECT_URL");
  });

  describe("as the doctor sees it", () => {
    const about = async (databaseUrl: string, databaseDirectUrl?: string) =>
      (await checkDatabase({ databaseUrl, databaseDirectUrl, dataDir: undefined })).filter(
        ({ subject }) => subject === "pooler",
      );

    it("needs the server's own address", async () => {
      expect(await about(postgres.url)).toMatchObject([
        { status: "fail", fix: expect.stringContaining("LANGGRAPH_DATABASE_DIRECT_URL") },
      ]);
      expect(await about(postgres.url, postgres.directUrl)).toMatchObject([
        { status: "ok", said: expect.stringContaining("leads to the server behind it") },
      ]);
    });

    it("is told from a server that needs none", async () => {
      expect(await about(postgres.directUrl)).toMatchObject([
        { status: "ok", said: "No pooler in transaction mode is in between." },
      ]);
      expect(await about(postgres.directUrl, postgres.directUrl)).toMatchObject([
        { status: "ok", said: expect.stringContaining("is not needed") },
      ]);
    });

    it("must have the server's own address, and no other's", async () => {
      expect(await about(postgres.url, postgres.url)).toMatchObject([
        { status: "fail", said: expect.stringContaining("too") },
      ]);
      const other = await openTestPostgres();
      expect(await about(postgres.url, other.url)).toMatchObject([
        { status: "fail", said: expect.stringContaining("different databases") },
      ]);
      await other.close();
      expect(await about(postgres.url, "postgres://127.0.0.1:9/x")).toMatchObject([
        { status: "fail", fix: expect.stringContaining("LANGGRAPH_DATABASE_DIRECT_URL") },
      ]);
    });
  });
});
