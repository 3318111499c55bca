// @vitest-environment happy-dom
import type { AccountApi } from "@throughline/agent-client";
import { act } from "react";
import { expect, it, vi } from "vitest";
import { AgentProvider, type Attachments, ThreadProvider, useAttachments } from "./index.js";
import { createFakeAccount, createFakePage, mount, Probe } from "./testing/fake-page.js";

type Answer = Awaited<ReturnType<AccountApi["upload"]>>;

/** Uploads that end when the test says so. */
async function setUp() {
  const uploads: {
    readonly to: string;
    readonly signal: AbortSignal | undefined;
    end(answer: Answer): void;
  }[] = [];
  const account = createFakeAccount({
    upload: ({ threadId }, _, signal) => new Promise((end) => uploads.push({ to: threadId, signal, end })),
  });
  const { client } = createFakePage();
  let now: Attachments | undefined;
  const tree = (threadId: string) => (
    <AgentProvider client={client} account={account}>
      <ThreadProvider agentId="poet" threadId={threadId}>
        <Probe
          use={() => {
            now = useAttachments();
          }}
        />
      </ThreadProvider>
    </AgentProvider>
  );
  const { render, unmount } = await mount(tree("a"));
  return {
    uploads,
    unmount,
    open: (threadId: string) => render(tree(threadId)),
    add: (...names: readonly string[]) =>
      act(async () => now?.add(names.map((name) => new File(["x"], name)))),
    states: () => now?.files.map(({ name, state }) => `${name} ${state}`),
    now: () => now,
  };
}

it("cuts the upload of a file that is taken away, and says nothing of its end", async () => {
  const { add, uploads, states, now } = await setUp();
  await add("a.txt", "b.txt");
  expect(now()?.isUploading).toBe(true);
  await act(async () => now()?.remove(now()?.files[0]?.key ?? ""));
  expect(uploads.map(({ signal }) => signal?.aborted)).toEqual([true, false]);
  await act(async () => uploads[0]?.end({ kind: "network" }));
  expect(states()).toEqual(["b.txt uploading"]);
  await act(async () => uploads[1]?.end({ kind: "network" }));
  expect(now()?.files[0]).toMatchObject({ state: "failed", problem: "The service could not be reached." });
  expect(now()?.parts).toEqual([]);
});

it("lets its files go with the thread they were put into", async () => {
  const { add, uploads, states, open, unmount } = await setUp();
  await add("a.txt");
  await open("b");
  await vi.waitFor(() => expect(states()).toEqual([]));
  expect(uploads[0]?.signal?.aborted).toBe(true);
  await add("b.txt");
  expect(uploads.map(({ to }) => to)).toEqual(["a", "b"]);
  await unmount();
  expect(uploads[1]?.signal?.aborted).toBe(true);
});
