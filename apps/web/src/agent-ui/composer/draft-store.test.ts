// @vitest-environment happy-dom
import { beforeEach, describe, expect, it } from "vitest";
import { createDraftStore, type Draft, EMPTY_DRAFT, forgetDrafts, joinTexts } from "./drafts";

const storages = { browser: localStorage, tab: sessionStorage };
const PLACE = { agentId: "langgraph:poet", threadId: "train" };
const NEW = { ...PLACE, threadId: undefined };
const part = { type: "binary", mimeType: "image/png", id: "a1", filename: "a.png" } as const;
const said = (text: string): Draft => ({ text, files: [] });

let now = 0;
const storeOf = (account: string) =>
  createDraftStore({
    account,
    storages: () => storages,
    now: () => {
      now += 1;
      return now;
    },
  });

beforeEach(() => {
  localStorage.clear();
  sessionStorage.clear();
});

describe("a draft", () => {
  it("is found again where it was written, and nowhere else", () => {
    const store = storeOf("ann");
    const draft: Draft = { text: "Dear", files: [{ name: "a.png", part }, { name: "b.png" }] };
    store.write(PLACE, draft);
    expect(storeOf("ann").read(PLACE)).toEqual(draft);
    expect(store.read(NEW)).toEqual(EMPTY_DRAFT);
    expect(store.read({ ...PLACE, agentId: "langgraph:travel" })).toEqual(EMPTY_DRAFT);
  });

  it("is another account's at no place, however the names are chosen", () => {
    storeOf('ann":["langgraph:poet').write(PLACE, said("secret"));
    storeOf("bob").write(PLACE, said("hello"));
    expect(storeOf("ann").read(PLACE)).toEqual(EMPTY_DRAFT);
    expect(storeOf("bob").read(PLACE).text).toBe("hello");
  });

  it("leaves nothing behind once it is empty", () => {
    const store = storeOf("ann");
    store.write(PLACE, said("Dear"));
    store.write(PLACE, EMPTY_DRAFT);
    expect(localStorage).toHaveLength(0);
  });

  it("is not written again unchanged: other tabs would hear of it", () => {
    const store = storeOf("ann");
    store.write(PLACE, said("Dear"));
    const before = localStorage.getItem(store.keyOf(PLACE));
    store.write(PLACE, said("Dear"));
    expect(localStorage.getItem(store.keyOf(PLACE))).toBe(before);
  });

  it("is empty where something else is stored, and where nothing may be", () => {
    const store = storeOf("ann");
    localStorage.setItem(store.keyOf(PLACE), '{"text":1}');
    sessionStorage.setItem(store.keyOf(PLACE), "[1]");
    expect([store.read(PLACE), store.readSent(PLACE)]).toEqual([EMPTY_DRAFT, []]);
    const forbidden = createDraftStore({
      account: "ann",
      storages: () => {
        throw new Error("SecurityError");
      },
      now: () => 0,
    });
    forbidden.write(PLACE, said("Dear"));
    forbidden.tidy();
    expect(forbidden.read(PLACE)).toEqual(EMPTY_DRAFT);
  });
});

describe("whoever signs in", () => {
  it("drops what other accounts began, and of their own all but the newest", () => {
    storeOf("bob").write(PLACE, said("his"));
    storeOf("bob").writeSent(PLACE, [{ id: "m", ...said("his") }]);
    const store = storeOf("ann");
    for (let at = 0; at < 53; at += 1) store.write({ ...PLACE, threadId: `t${at}` }, said(`${at}`));
    localStorage.setItem("throughline:seen:bob", "kept");
    store.tidy();
    expect(storeOf("bob").read(PLACE)).toEqual(EMPTY_DRAFT);
    expect(storeOf("bob").readSent(PLACE)).toEqual([]);
    expect(store.read({ ...PLACE, threadId: "t2" })).toEqual(EMPTY_DRAFT);
    expect(store.read({ ...PLACE, threadId: "t3" }).text).toBe("3");
    expect(localStorage.getItem("throughline:seen:bob")).toBe("kept");
  });

  it("finds nothing of who signed out", () => {
    const store = storeOf("ann");
    store.write(PLACE, said("Dear"));
    store.writeSent(PLACE, [{ id: "m", ...said("Dear") }]);
    forgetDrafts(storages);
    expect([localStorage.length, sessionStorage.length]).toEqual([0, 0]);
  });
});

it("joins two texts without losing or doubling any", () => {
  expect(joinTexts("", "typed")).toBe("typed");
  expect(joinTexts("kept", "")).toBe("kept");
  expect(joinTexts("kept and more", "kept")).toBe("kept and more");
  expect(joinTexts("kept", "kept and more")).toBe("kept and more");
  expect(joinTexts("kept", "typed")).toBe("kept\n\ntyped");
});
