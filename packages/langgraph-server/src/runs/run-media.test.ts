import type { EmbeddedFile, GraphFinal, UpstreamChunk } from "@throughline/ai-core";
import { describe, expect, it } from "vitest";
import type { GeneratedFiles } from "../attachments/receive-file.js";
import { createRunMedia } from "./run-media.js";

const thread = { account: "acme", threadId: "t" };
const picture = (text: string) => ({
  type: "image",
  mimeType: "image/png",
  data: Buffer.from(text.repeat(300)).toString("base64"),
});
const chunk = (content: unknown): UpstreamChunk => ({
  ns: [],
  mode: "messages",
  data: [{ type: "ai", id: "a", content }, {}],
});
const success: GraphFinal = { ok: true, status: "success", interrupts: [] };
const never = new AbortController().signal;

/** A store that answers when it is told to. */
function open(refusal?: string) {
  const asked: { readonly file: EmbeddedFile; answer(why?: string): void; fail(error: unknown): void }[] = [];
  const refused: string[] = [];
  const failures: unknown[] = [];
  const keeper: GeneratedFiles = {
    refusal: () => refusal,
    keep: (_, file) => new Promise((answer, fail) => asked.push({ file, answer, fail })),
    underWay: async () => {},
  };
  const media = createRunMedia({
    thread,
    keeper,
    onRefused: (_, why) => refused.push(why),
    onFailed: (error) => failures.push(error),
  });
  return { media, asked, refused, failures };
}

describe("The files of a run", () => {
  it("are named at once while they are stored, so that no token waits for one", () => {
    const { media, asked } = open();
    const words = chunk("words");
    const told = media.take(chunk([picture("a")]));
    expect(JSON.stringify(told)).toContain(`throughline:attachment/${asked[0]?.file.id}`);
    expect(media.take(words)).toBe(words);
    expect(media.room()).toBeUndefined();
  });

  it("are asked for once each, however often they are told", () => {
    const { media, asked } = open();
    for (let time = 0; time < 3; time += 1) media.take(chunk([picture("a"), picture("b")]));
    expect(asked).toHaveLength(2);
  });

  it("make the graph wait when many of them are on their way", async () => {
    const { media, asked } = open();
    for (const text of ["a", "b", "c", "d"]) media.take(chunk([picture(text)]));
    const room = media.room();
    expect(room).toBeDefined();
    asked[2]?.answer();
    await room;
    expect(media.room()).toBeUndefined();
  });

  it("are all stored before the run ends, and what turned out to have no room is named in words", async () => {
    const { media, asked, refused } = open();
    const { data } = media.take(chunk([picture("a")]));
    const content = (data as [{ content: [] }])[0].content;
    let isOver = false;
    const ending = media.drain({ ...success, messages: [{ id: "a", role: "assistant", content }] }, never);
    void ending.then(() => {
      isOver = true;
    });
    await new Promise((resolve) => setImmediate(resolve));
    expect(isOver).toBe(false);
    asked[0]?.answer("is more than this thread may store");
    const { messages } = await ending;
    expect(messages?.[0]?.content).toEqual([
      { type: "text", text: "[image/png: is more than this thread may store]" },
    ]);
    expect(refused).toEqual(["is more than this thread may store"]);
  });

  it("are named in words at once where they may not be stored at all", () => {
    const { media, asked, refused } = open("is too large");
    expect(JSON.stringify(media.take(chunk([picture("a")])))).toContain("[image/png: is too large]");
    media.take(chunk([picture("a")]));
    expect(asked).toEqual([]);
    expect(refused).toEqual(["is too large"]);
  });

  it("are not waited for when the run is left, and a store that fails does not fail the run", async () => {
    const { media, asked, failures } = open();
    media.take(chunk([picture("a"), picture("b")]));
    asked[0]?.fail("away");
    const left = new AbortController();
    const ending = media.drain(success, left.signal);
    left.abort();
    expect(await ending).toEqual(success);
    expect(failures).toEqual(["away"]);
  });
});
