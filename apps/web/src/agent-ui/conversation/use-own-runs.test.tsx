// @vitest-environment happy-dom
import { act, type ReactNode } from "react";
import { expect, it } from "vitest";
import { openThread, runFinished, runStarted } from "../../data/testing/open-thread";
import { useOwnRuns } from "./thread-session";

type OwnRuns = ReturnType<typeof useOwnRuns>;

function Page({ onRender }: { readonly onRender: (own: OwnRuns) => void }): ReactNode {
  onRender(useOwnRuns());
  return null;
}

async function openPage() {
  let own: OwnRuns | undefined;
  const { thread, tell } = await openThread(
    <Page
      onRender={(runs) => {
        own = runs;
      }}
    />,
  );
  return {
    thread,
    tell,
    isOwn: (runId: string) => own?.has(`service:${runId}`),
    add: (command: ReturnType<typeof thread.send>) => act(async () => own?.add(command)),
  };
}

it("knows a run of this page from one of another tab that begins while its own waits", async () => {
  const { thread, add, tell, isOwn } = await openPage();
  await tell(runStarted("cron"));
  const command = thread.send("hello", { kind: "queue" });
  await add(command);
  await tell(runFinished("cron"), runStarted("another tab's"));
  expect(isOwn("another tab's")).toBe(false);
  await tell(runFinished("another tab's"), runStarted(command.runId));
  expect(isOwn(command.runId)).toBe(true);
});

it("knows a run that was over before anything of it was drawn", async () => {
  const { thread, add, tell, isOwn } = await openPage();
  const command = thread.send("hello");
  await add(command);
  await tell(runStarted(command.runId), runFinished(command.runId), runStarted("next"), runFinished("next"));
  expect(isOwn(command.runId)).toBe(true);
  expect(isOwn("next")).toBe(false);
});
