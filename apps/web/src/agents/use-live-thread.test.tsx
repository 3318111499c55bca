// @vitest-environment happy-dom
import { useRun } from "@throughline/agent-react";
import { Profiler, type ReactNode } from "react";
import { expect, it } from "vitest";
import { openThread, runFinished, runStarted } from "../data/testing/open-thread";
import { useLiveThread } from "./activity";

const OPEN = { threadName: "t" };

function Own(): ReactNode {
  return <b>{useRun()?.status}</b>;
}

function Listed(): ReactNode {
  return <i>{useLiveThread("poet", OPEN)?.status}</i>;
}

it("shows in lists that a run ended after the commit in which the thread's page does", async () => {
  const seen: (string | null)[] = [];
  const page = document.createElement("main");
  const look = () => seen.push(page.textContent);
  const { place, tell } = await openThread(
    <Profiler id="page" onRender={look}>
      <Own />
      <Listed />
    </Profiler>,
  );
  page.append(place);
  await tell(runStarted("r"));
  seen.splice(0);
  await tell(runFinished("r"));
  expect(seen[0]).toBe("successrunning");
  expect(seen.at(-1)).toBe("successidle");
});
