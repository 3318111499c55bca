import { createLangGraphDevProvider } from "@throughline/graph-executor";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type DevUpstream, startDevUpstream } from "../testing/dev-upstream.js";
import { ofType } from "../testing/frame-recorder.js";
import { openServiceScene, startRequest } from "../testing/service-scene.js";

let upstream: DevUpstream;
beforeAll(async () => {
  upstream = await startDevUpstream(200);
}, 60_000);
afterAll(() => upstream?.stop());

it("A thread that runs on a LangGraph server is stopped and gone there too, and begins anew there", async () => {
  const scene = await openServiceScene({
    graphs: createLangGraphDevProvider({ url: upstream.url, watchPace: { activeMs: 50, idleMs: 200 } }),
    leaseMs: 1_000,
  });
  const { runs, deletions, state } = scene.service;
  const thread = scene.thread("poet");
  const place = { graphId: thread.graphId, threadId: thread.ref.threadId };
  const statusUpstream = async () => (await fetch(`${upstream.url}/threads/${place.threadId}`)).status;
  const watching = scene.watch(thread, { kind: "nothing" }, { follow: true });
  await runs.start(startRequest(thread, "Write about rain"));
  await watching.frame(ofType("TEXT_MESSAGE_CONTENT"));
  expect(await statusUpstream()).toBe(200);

  const begun = await deletions.deleteThread(thread, "acme");
  expect((await watching.ended).reason).toBe("deleted");
  expect((await deletions.untilDeleted(begun, 20_000)).phase).toBe("deleted");
  expect(await statusUpstream()).toBe(404);
  expect(await state.getState(place)).toBeUndefined();

  await runs.start(startRequest(thread, "Write about snow"));
  const again = scene.watch(thread, { kind: "nothing" });
  await again.frame(ofType("TEXT_MESSAGE_CONTENT"));
  expect(JSON.stringify(again.frames)).not.toContain("rain");
  await runs.stop(thread);
  await again.ended;
  await scene.close();
});
