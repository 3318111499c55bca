// @vitest-environment happy-dom
import { expect, it, vi } from "vitest";
import { useRefreshOnRun } from "./refresh-on-run";
import { openThread, runFinished, runStarted } from "./testing/open-thread";

function Refreshing({ refresh, onRender }: { readonly refresh: () => void; readonly onRender: () => void }) {
  onRender();
  useRefreshOnRun(refresh);
  return null;
}

it("asks again when a run begins and when it ends, and renders for neither", async () => {
  const [refresh, onRender] = [vi.fn(), vi.fn()];
  const { tell } = await openThread(<Refreshing refresh={refresh} onRender={onRender} />);
  onRender.mockClear();
  await tell(runStarted("r"));
  await vi.waitFor(() => expect(refresh).toHaveBeenCalledTimes(1));
  await tell(runFinished("r"));
  await vi.waitFor(() => expect(refresh).toHaveBeenCalledTimes(2));
  expect(onRender).not.toHaveBeenCalled();
});
