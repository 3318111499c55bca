// How much it costs to turn a LangGraph stream into AG-UI, and how much of it goes over the wire.
import { measureInterleaved } from "../measure.mjs";
import { atLeast, atMost } from "../targets.mjs";
import { prepareOurs } from "./ours.mjs";
import { preparePeer } from "./peer.mjs";
import { createWorkload } from "./workload.mjs";

const HUMAN_MS = 25;
const FLAT_OUT_MS = 1;
const ANSWER_TOKENS = 600;
const SMALL_STATE = 200;
const BIG_STATE = 100_000;
const HUGE_STATE = 1_000_000;

/** What production asks a graph for; `events` is for runs that were started with it. */
const MODES = { dialect: "modes", sampling: true };
const EVENTS = { dialect: "events", sampling: true };
const UNSAMPLED = { dialect: "modes", sampling: false };

/** @param {{ quick: boolean, progress: (text: string) => void }} options */
export async function runBench({ quick, progress }) {
  const workloads = createWorkloads();
  const { base, flatOut, long, bigState, knownState, bigKnownState, hugeKnownState } = workloads;
  progress(
    `A run of ${base.tokens} model tokens with 2 tool calls; the peer is @ag-ui/langgraph, fed the same events.`,
  );
  await checkAnswers(workloads);

  const subject = (name, { tokens }, run) => ({ name, units: tokens, run });
  const speed = await measureInterleaved(
    [
      subject("ours modes", base, prepareOurs(base, MODES)),
      subject("peer events", base, preparePeer(base)),
      subject("ours modes, 1 ms per token", flatOut, prepareOurs(flatOut, MODES)),
      subject("ours events", base, prepareOurs(base, EVENTS)),
      subject("ours modes, unsampled", base, prepareOurs(base, UNSAMPLED)),
      subject("ours modes, 10x", long, prepareOurs(long, MODES)),
      subject("peer events, 10x", long, preparePeer(long)),
      subject("ours modes, 100 KB of new state", bigState, prepareOurs(bigState, MODES)),
      subject("peer events, 100 KB of new state", bigState, preparePeer(bigState)),
      subject("ours modes, known state", knownState, prepareOurs(knownState, MODES)),
      subject("ours modes, 100 KB of known state", bigKnownState, prepareOurs(bigKnownState, MODES)),
      subject("ours modes, 1 MB of known state", hugeKnownState, prepareOurs(hugeKnownState, MODES)),
    ],
    {
      rounds: quick ? 5 : 11,
      secondsPerSubject: quick ? 2 : 10,
      onRound: (done, of) => progress(`  round ${done} of ${of}`),
    },
  );
  // Again, because a subject that changed the recording would have measured something else from then on.
  await checkAnswers(workloads);
  const rate = (name) => speed.get(name).perCpuSecond;

  const atHumanPace = prepareOurs(base, MODES)();
  const atFlatOut = prepareOurs(flatOut, MODES)();
  const peerOut = await preparePeer(base)();
  return {
    ours: {
      ...speedOf("ours", speed),
      bytesOut: {
        payload: base.payloadBytes,
        "25 ms per token": atHumanPace.bytes,
        "1 ms per token": atFlatOut.bytes,
        "events, 25 ms per token": prepareOurs(base, EVENTS)().bytes,
        unsampled: prepareOurs(base, UNSAMPLED)().bytes,
        "100 KB of new state, payload": bigState.payloadBytes,
        "100 KB of new state": prepareOurs(bigState, MODES)().bytes,
      },
      eventsOut: { "25 ms per token": atHumanPace.events, "1 ms per token": atFlatOut.events },
    },
    peer: {
      ...speedOf("peer", speed),
      bytesOut: { base: peerOut.bytes, "100 KB of new state": (await preparePeer(bigState)()).bytes },
      eventsOut: { base: peerOut.events },
    },
    targets: [
      atLeast("tokens per CPU second, ours over peer", rate("ours modes") / rate("peer events"), 20),
      atMost("bytes, ours over peer, 25 ms per token", atHumanPace.bytes / peerOut.bytes, 1 / 50),
      atMost("cost per token, 10x the length", rate("ours modes") / rate("ours modes, 10x"), 1.1),
      atMost(
        "cost per token, 100 KB of known state",
        rate("ours modes, known state") / rate("ours modes, 100 KB of known state"),
        1.3,
      ),
      atMost(
        "cost per token, 1 MB of known state",
        rate("ours modes, known state") / rate("ours modes, 1 MB of known state"),
        2,
      ),
    ],
  };
}

function createWorkloads() {
  const shape = { answerTokens: ANSWER_TOKENS, stateBytes: SMALL_STATE, msPerToken: HUMAN_MS };
  return {
    base: createWorkload({ ...shape, name: "base" }),
    flatOut: createWorkload({ ...shape, name: "flat-out", msPerToken: FLAT_OUT_MS }),
    long: createWorkload({ ...shape, name: "10x", answerTokens: 10 * ANSWER_TOKENS }),
    bigState: createWorkload({ ...shape, name: "100 KB of new state", stateBytes: BIG_STATE }),
    knownState: createWorkload({ ...shape, name: "known state", isStateKnown: true }),
    bigKnownState: createWorkload({
      ...shape,
      name: "100 KB of known state",
      isStateKnown: true,
      stateBytes: BIG_STATE,
    }),
    hugeKnownState: createWorkload({
      ...shape,
      name: "1 MB of known state",
      isStateKnown: true,
      stateBytes: HUGE_STATE,
    }),
  };
}

/** A translation that loses text would be a fast one. */
async function checkAnswers({ base, bigState }) {
  for (const workload of [base, bigState]) {
    const subjects = {
      "ours, events": (onEvent) => prepareOurs(workload, { ...EVENTS, onEvent })(),
      "ours, modes": (onEvent) => prepareOurs(workload, { ...MODES, onEvent })(),
      "ours, unsampled": (onEvent) => prepareOurs(workload, { ...UNSAMPLED, onEvent })(),
      peer: (onEvent) => preparePeer(workload, { onEvent })(),
    };
    for (const [who, run] of Object.entries(subjects)) {
      let text = "";
      let document;
      await run((event) => {
        if (event.type === "TEXT_MESSAGE_CONTENT") text += event.delta;
        if (event.type === "STATE_SNAPSHOT") document = event.snapshot.document;
        if (event.type === "STATE_DELTA")
          document = event.delta.find(({ path }) => path === "/document")?.value ?? document;
      });
      if (text !== workload.answer)
        throw new Error(`${who} did not deliver the answer of "${workload.name}".`);
      if (document?.length !== workload.final.values.document.length)
        throw new Error(`${who} did not deliver the state of "${workload.name}".`);
    }
  }
}

function speedOf(who, speed) {
  const mine = [...speed].filter(([name]) => name.startsWith(who));
  const named = (value) =>
    Object.fromEntries(mine.map(([name, s]) => [name.slice(who.length + 1), value(s)]));
  return { tokensPerCpuSecond: named((s) => s.perCpuSecond), spreadOverRounds: named((s) => s.spread) };
}
