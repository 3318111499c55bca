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

const EVENTS = { dialect: "events", sampling: true };
const MODES = { dialect: "modes", sampling: true };
const UNSAMPLED = { dialect: "events", sampling: false };

/** @param {{ quick: boolean, progress: (text: string) => void }} options */
export async function runBench({ quick, progress }) {
  const workloads = createWorkloads();
  const { base, flatOut, long, bigState } = workloads;
  progress(
    `A run of ${base.tokens} model tokens with 2 tool calls; the peer is @ag-ui/langgraph, fed the same events.`,
  );
  await checkAnswers(workloads);

  const subject = (name, { tokens }, run) => ({ name, units: tokens, run });
  const speed = await measureInterleaved(
    [
      subject("ours events", base, prepareOurs(base, EVENTS)),
      subject("peer events", base, preparePeer(base)),
      subject("ours events, 1 ms per token", flatOut, prepareOurs(flatOut, EVENTS)),
      subject("ours modes", base, prepareOurs(base, MODES)),
      subject("ours events, unsampled", base, prepareOurs(base, UNSAMPLED)),
      subject("ours events, 10x", long, prepareOurs(long, EVENTS)),
      subject("peer events, 10x", long, preparePeer(long)),
      subject("ours events, 100 KB state", bigState, prepareOurs(bigState, EVENTS)),
      subject("peer events, 100 KB state", bigState, preparePeer(bigState)),
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

  const atHumanPace = prepareOurs(base, EVENTS)();
  const atFlatOut = prepareOurs(flatOut, EVENTS)();
  const peerOut = await preparePeer(base)();
  return {
    ours: {
      ...speedOf("ours", speed),
      bytesOut: {
        payload: base.payloadBytes,
        "25 ms per token": atHumanPace.bytes,
        "1 ms per token": atFlatOut.bytes,
        "modes, 25 ms per token": prepareOurs(base, MODES)().bytes,
        unsampled: prepareOurs(base, UNSAMPLED)().bytes,
        "100 KB state, payload": bigState.payloadBytes,
        "100 KB state": prepareOurs(bigState, EVENTS)().bytes,
      },
      eventsOut: { "25 ms per token": atHumanPace.events, "1 ms per token": atFlatOut.events },
    },
    peer: {
      ...speedOf("peer", speed),
      bytesOut: { base: peerOut.bytes, "100 KB state": (await preparePeer(bigState)()).bytes },
      eventsOut: { base: peerOut.events },
    },
    targets: [
      atLeast("tokens per CPU second, ours over peer", rate("ours events") / rate("peer events"), 20),
      atMost("bytes, ours over peer, 25 ms per token", atHumanPace.bytes / peerOut.bytes, 1 / 15),
      atMost("bytes over payload, 25 ms per token", atHumanPace.bytes / base.payloadBytes, 1.2),
      atMost("bytes over payload, 1 ms per token", atFlatOut.bytes / flatOut.payloadBytes, 1.2),
      atMost("cost per token, 10x the length", rate("ours events") / rate("ours events, 10x"), 1.3),
      atMost("cost per token, 100 KB state", rate("ours events") / rate("ours events, 100 KB state"), 1.3),
    ],
  };
}

function createWorkloads() {
  const shape = { answerTokens: ANSWER_TOKENS, stateBytes: SMALL_STATE, msPerToken: HUMAN_MS };
  return {
    base: createWorkload({ ...shape, name: "base" }),
    flatOut: createWorkload({ ...shape, name: "flat-out", msPerToken: FLAT_OUT_MS }),
    long: createWorkload({ ...shape, name: "10x", answerTokens: 10 * ANSWER_TOKENS }),
    bigState: createWorkload({ ...shape, name: "100 KB state", stateBytes: BIG_STATE }),
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
