import { randomUUID } from "node:crypto";
import { HttpAgent as HttpAgent00 } from "@ag-ui/client";
import { HttpAgent as HttpAgent10 } from "@ag-ui/client-1";
import { type AgentClient, createAgentClient, type ThreadHandle } from "@throughline/agent-client";
import { type Json, type JsonObject, toGraphId } from "@throughline/ai-core";
import type { GraphProvider, GraphSource } from "@throughline/graph-executor";
import { createHandler, createService, devCaller, type Service } from "@throughline/langgraph-server";
import { type Question, readInterruptRequest } from "@throughline/questions";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { isOver, until } from "../client/shown.js";
import { serveHandler } from "../in-process/serve-handler.js";
import type { Asked } from "./graphs/question-graphs.js";
import { QUESTION_ROWS } from "./question-rows.js";

export interface QuestionSuite {
  readonly graphs: () => Promise<{ readonly source: GraphSource | GraphProvider; stop?(): Promise<void> }>;
  /** Protocol versions whose stock client answers a row. */
  readonly versions: (row: number) => readonly ("0.0" | "1.0")[];
}

/** Every shape of question, asked by real graphs and answered through the whole service. */
export function describeQuestions(suite: QuestionSuite): void {
  let service: Service;
  let graphs: Awaited<ReturnType<QuestionSuite["graphs"]>>;
  let served: { readonly url: string; stop(): Promise<void> };
  let client: AgentClient;

  beforeAll(async () => {
    graphs = await suite.graphs();
    service = await createService({ store: { kind: "memory" }, graphs: graphs.source });
    served = await serveHandler(createHandler({ service, caller: devCaller() }));
    client = createAgentClient({ url: `${served.url}/api/copilotkit` });
  });
  afterAll(async () => {
    await client.close();
    await service.close({ drainMs: 0 });
    await served.stop();
    await graphs.stop?.();
  });

  /** A thread in which this was said, and the agent has asked or ended. */
  async function told(agent: string, text: string): Promise<ThreadHandle> {
    const thread = client.thread(toGraphId(agent), randomUUID());
    thread.open();
    expect(await thread.send(text)).toMatchObject({ kind: "done" });
    await until(thread, isOver);
    return thread;
  }

  function questionsOf(
    thread: ThreadHandle,
  ): readonly { readonly id: string; readonly question: Question }[] {
    return thread.getSnapshot().view.interrupts.map(({ id, metadata }) => {
      const told = metadata?.langgraph;
      const { raw = null, responseSchema } = (told ?? {}) as { raw?: Json; responseSchema?: JsonObject };
      return { id, question: readInterruptRequest(raw, responseSchema) };
    });
  }

  function onlyQuestion(thread: ThreadHandle): { readonly id: string; readonly question: Question } {
    const [asked, ...more] = questionsOf(thread);
    if (!asked || more.length > 0) throw new Error(`${more.length + (asked ? 1 : 0)} questions are open`);
    return asked;
  }

  const stateOf = (thread: ThreadHandle) => thread.getSnapshot().view.state;
  const textsOf = (thread: ThreadHandle) =>
    thread.getSnapshot().view.messages.map(({ content }) => String(content));

  /** Lets an answer through that the service would refuse, as one did that was given before the service checked. */
  function giveUnchecked(answers: Readonly<Record<string, Json>>): void {
    const { registry } = service;
    const { start } = registry;
    vi.spyOn(registry, "start").mockImplementationOnce((row, look) =>
      start({ ...row, start: { kind: "resume", answers } }, look),
    );
  }

  describe.each(QUESTION_ROWS)("$name", ({ name, asked, kind, answer, given, stock, wrong }) => {
    it("P80: is answered by our client, and a wrong answer changes nothing", async () => {
      const thread = await told("shapes", JSON.stringify(asked));
      const { id, question } = onlyQuestion(thread);
      expect(question.kind).toBe(kind);
      if (wrong !== undefined) {
        expect(await thread.answer(id, wrong)).toMatchObject({ kind: "refused", code: "answer_mismatch" });
        expect(onlyQuestion(thread).id).toBe(id);
      }
      expect(await thread.answer(id, answer(question))).toMatchObject({ kind: "done", status: "success" });
      expect(stateOf(thread)).toMatchObject({ answer: given });
    });

    if (stock) {
      const versions = suite.versions(QUESTION_ROWS.findIndex((row) => row.name === name));
      it.each(versions)("is answered by a stock client of protocol version %s", async (version) => {
        const run = stockClient(version, "shapes", asked);
        const id = await run.ask();
        expect(await run.answer(id, stock.payload)).toMatchObject({ answer: stock.given });
      });
    }
  });

  /** A stock `HttpAgent`, nothing overridden. */
  function stockClient(version: "0.0" | "1.0", agentName: string, asked: Asked) {
    const options = { url: `${served.url}/api/copilotkit/agent/${agentName}/run`, threadId: randomUUID() };
    const agent = version === "0.0" ? new HttpAgent00(options) : new HttpAgent10(options);
    return {
      async ask(): Promise<string> {
        agent.addMessage({ id: randomUUID(), role: "user", content: JSON.stringify(asked) });
        // Both versions know the standard form; only one asks for it by itself.
        const props = { throughline: { interrupts: "standard" } };
        await agent.runAgent({ forwardedProps: props } as never);
        const [interrupt] = agent.pendingInterrupts;
        expect(interrupt).toMatchObject({ message: expect.any(String), reason: expect.any(String) });
        return interrupt?.id ?? "";
      },
      async answer(interruptId: string, payload: Json): Promise<unknown> {
        await agent.runAgent({ resume: [{ interruptId, status: "resolved", payload }] } as never);
        return agent.state;
      },
    };
  }

  describe("A stock client whose answer does not fit", () => {
    it.each(["0.0", "1.0"] as const)(
      "of protocol version %s is told so by a status, and may answer again",
      async (version) => {
        // Both say on the console what they throw.
        vi.spyOn(console, "error").mockImplementation(() => {});
        const [approvals] = QUESTION_ROWS;
        const run = stockClient(version, "shapes", approvals?.asked ?? { value: null });
        const id = await run.ask();
        await expect(run.answer(id, "yes, please")).rejects.toMatchObject({ status: 422 });
        const decisions = [{ type: "approve" }];
        expect(await run.answer(id, { approved: true })).toMatchObject({ answer: { decisions } });
        vi.restoreAllMocks();
      },
    );
  });

  describe("The approver", () => {
    const APPROVE: JsonObject = { type: "approve" };

    it("asks for two calls at once, then for its subagent's, and runs each tool once", async () => {
      const thread = await told("approver", "Please settle order 77");
      const batch = onlyQuestion(thread);
      expect(batch.question).toMatchObject({
        kind: "approvals",
        spelling: "camel",
        actions: [
          { name: "refund_order", allowed: ["approve", "edit", "reject"] },
          { name: "send_email", allowed: ["approve", "reject"] },
        ],
      });
      for (const wrong of ["yes", { decisions: [APPROVE] }, { decisions: [APPROVE, { type: "edit" }] }]) {
        expect(await thread.answer(batch.id, wrong)).toMatchObject({ code: "answer_mismatch" });
      }
      const edited = {
        type: "edit",
        edited_action: { name: "refund_order", args: { order: "77", amount: 10 } },
      };
      await thread.answer(batch.id, { decisions: [edited, APPROVE] });
      await until(thread, ({ view }) => view.interrupts.length === 1 && view.interrupts[0]?.id !== batch.id);
      const clerk = onlyQuestion(thread);
      expect(clerk.question).toMatchObject({ kind: "approvals", actions: [{ name: "file_record" }] });
      expect(await thread.answer(clerk.id, { approved: true })).toMatchObject({
        kind: "done",
        status: "success",
      });
      const last = textsOf(thread).at(-1);
      for (const done of ["Refunded 10 EUR", "Sent", "Filed"]) expect(last).toContain(done);
    });

    it.each([
      ["its own", "Refund order 78", "refund_order"],
      ["its subagent's", "File a record of order 78", "file_record"],
    ])(
      "P82: is repaired where an answer to %s question was saved that the middleware throws at",
      async (_, say, tool) => {
        const thread = await told("approver", say);
        const { id } = onlyQuestion(thread);
        giveUnchecked({ [id]: "yes" });
        expect(await thread.answer(id, { approved: true })).toMatchObject({ kind: "done", status: "error" });
        expect(questionsOf(thread)).toEqual([]);
        expect(await thread.askAgain()).toMatchObject({ kind: "done", status: "interrupted" });
        await until(thread, ({ view }) => view.interrupts.length === 1);
        expect(await thread.answer(onlyQuestion(thread).id, { approved: true })).toMatchObject({
          kind: "done",
          status: "success",
        });
        const { calls } = thread.getSnapshot().view;
        expect(calls.filter(({ kind, name }) => kind === "tool" && name === tool)).toHaveLength(1);
      },
    );

    it("is dismissed by rejecting what it asked for", async () => {
      const thread = await told("approver", "Refund order 79");
      const { id } = onlyQuestion(thread);
      const response = await fetch(`${served.url}/api/copilotkit/agent/approver/run`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({
          threadId: thread.threadId,
          resume: [{ interruptId: id, status: "cancelled" }],
        }),
      });
      expect(await response.text()).not.toContain("RUN_ERROR");
      await until(thread, ({ view }) => view.interrupts.length === 0 && view.run?.status === "success");
      expect(textsOf(thread).at(-1)).toContain("rejected the tool call");
    });
  });

  describe("Of two open questions", () => {
    const byText = (thread: ThreadHandle, text: string) =>
      questionsOf(thread).find(({ question }) => question.message === text)?.id ?? "";

    it.each(["fails", "is stopped"])("P81: the other stays when the run that answers one %s", async (how) => {
      const thread = await told("pair", "go");
      const [left, right] = [byText(thread, "left"), byText(thread, "right")];
      const answering = thread.answer(left, how === "fails" ? "wrong" : "wait");
      if (how !== "fails") {
        await until(thread, ({ view }) => view.run?.status === "running" && view.steps.length > 0);
        await thread.stop();
      }
      const status = how === "fails" ? "error" : "cancelled";
      expect(await answering).toMatchObject({ kind: "done", status });
      const snapshot = await until(thread, ({ view }) => view.run?.status === status);
      expect(snapshot.view.interrupts.map(({ id }) => id)).toEqual([right]);
      const late = createAgentClient({ url: `${served.url}/api/copilotkit` });
      const page = late.thread(thread.agentId, thread.threadId);
      page.open();
      await until(page, ({ view }) => view.interrupts.length > 0);
      expect(page.getSnapshot().view.interrupts.map(({ id }) => id)).toEqual([right]);
      await late.close();
      const listed = await fetch(`${served.url}/agents/pair/threads/${thread.threadId}`);
      expect(await listed.json()).toMatchObject({ status: "waiting" });
      if (how === "fails") {
        expect(await thread.askAgain()).toMatchObject({ status: "interrupted" });
        await until(thread, ({ view }) => view.interrupts.length === 2);
        const answers = { [byText(thread, "left")]: "L", [byText(thread, "right")]: "R" };
        expect(await thread.answerAll(answers)).toMatchObject({ kind: "done", status: "success" });
        expect(stateOf(thread)).toMatchObject({ answers: ["left L", "right R"] });
      } else {
        // Whether the stopped one had taken its answer is up to where it ran; if not, it asks again.
        let outcome = await thread.answer(right, "R");
        await until(thread, ({ view }) => view.run?.status !== "running");
        const [open] = questionsOf(thread);
        if (open) outcome = await thread.answer(open.id, "L");
        expect(outcome).toMatchObject({ kind: "done", status: "success" });
      }
    });
  });

  describe("A breakpoint", () => {
    it("P82: goes on without an answer", async () => {
      const thread = await told("breakpoint", "go");
      expect(stateOf(thread)).toMatchObject({ answer: "half way" });
      expect(await thread.askAgain()).toMatchObject({ kind: "done", status: "success" });
      expect(stateOf(thread)).toMatchObject({ answer: "arrived" });
    });

    it("P93, P94: goes on with a state that was edited, which whoever follows the thread has seen", async () => {
      const thread = await told("breakpoint", "go");
      const path = `${served.url}/agents/breakpoint/threads/${thread.threadId}/state`;
      const { checkpointId } = (await (await fetch(path)).json()) as { checkpointId: string };
      const edit = (steps: Json) =>
        fetch(path, {
          method: "PATCH",
          headers: { "content-type": "application/json" },
          body: JSON.stringify({ values: { answer: null, steps }, checkpointId }),
        });
      const edited = await edit(["home"]);
      expect(edited.status).toBe(200);
      expect(await edited.json()).toMatchObject({ values: { steps: ["home"] }, next: ["second"] });
      await until(thread, ({ view }) => JSON.stringify(view.state.steps) === '["home"]');
      expect(thread.getSnapshot().view.run?.status).toBe("interrupted");
      expect((await edit(["late"])).status).toBe(409);
      expect(await thread.askAgain()).toMatchObject({ kind: "done", status: "success" });
      expect(stateOf(thread)).toMatchObject({ answer: "arrived", steps: ["home", "second"] });
    });
  });

  describe("Backends", () => {
    const post = (path: string, body: object) =>
      fetch(`${served.url}${path}`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(body),
      });
    const request = {
      accountId: "dev",
      graphName: "approver",
      requestId: "q",
      traceId: "t",
    };

    it("answer through POST /runs, and are refused what does not fit", async () => {
      const stateKey = randomUUID();
      const asked = await post("/runs", {
        ...request,
        runId: randomUUID(),
        stateKey,
        messages: [{ role: "user", content: "Refund order 80" }],
      });
      await asked.text();
      const state = await fetch(`${served.url}/agents/approver/threads/${stateKey}/state`);
      const { interrupts } = (await state.json()) as { interrupts: { interrupt_id: string }[] };
      const id = interrupts[0]?.interrupt_id ?? "";
      const refused = await post("/runs", {
        ...request,
        runId: randomUUID(),
        stateKey,
        answers: { [id]: "no" },
      });
      expect(refused.status).toBe(422);
      expect(await refused.json()).toMatchObject({
        code: "answer_mismatch",
        details: { interruptId: id, problem: expect.any(String), path: "" },
      });
      const answers = { [id]: { decisions: [{ type: "approve" }] } };
      const done = await post("/runs", { ...request, runId: randomUUID(), stateKey, answers });
      expect(await done.text()).toContain("Refunded 49 EUR");
      const again = await post(`/agents/approver/threads/${stateKey}/ask-again`, {});
      expect(again.status).toBe(202);
    });
  });
}
