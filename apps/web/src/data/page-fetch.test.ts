import { afterEach, expect, it, vi } from "vitest";
import { otherSignIn, pageFetch, setPageIdentity } from "./request";

afterEach(() => vi.unstubAllGlobals());

it("names who the page is of in each request, beside what the request says itself", async () => {
  const asked: Headers[] = [];
  vi.stubGlobal("fetch", async (_: unknown, init: RequestInit) => {
    asked.push(new Headers(init.headers));
    return new Response();
  });
  setPageIdentity({ account: "acme", subject: "ann" });
  await pageFetch("/x", { headers: { accept: "text/plain" } });
  expect(Object.fromEntries(asked[0] ?? [])).toEqual({
    accept: "text/plain",
    "x-throughline-signed-in-as": "acme/ann",
  });
});

it("tells the page who is signed in now, and the answer can still be read", async () => {
  const answers = [
    Response.json({ code: "unauthorized" }, { status: 401 }),
    Response.json({ code: "signed_in_as_other", details: { signedInAs: "bob" } }, { status: 401 }),
  ];
  vi.stubGlobal("fetch", async () => answers.shift());
  const told = vi.fn();
  otherSignIn.subscribe(told);
  await pageFetch("/x");
  expect(told).not.toHaveBeenCalled();
  const answer = await pageFetch("/x");
  expect(await answer.json()).toMatchObject({ code: "signed_in_as_other" });
  expect(told).toHaveBeenCalledOnce();
  expect(otherSignIn.getSnapshot()).toEqual({ signedInAs: "bob" });
});
