import { chargeProblems } from "../../e2e/billing/rig/charge-problems.js";
import { conversationDifferences } from "../../e2e/server/stock/message-lines.js";
import { viewerDifference } from "./check-viewer.js";
import { type Finding, type History, type ThreadHistory, threadLabel } from "./history.js";

const OPEN = new Set(["running", "queued"]);
/** A run that ended so has its message in the checkpoint; another may have been stopped before it began. */
const HAS_BEGUN = new Set(["success", "interrupted"]);

/** All that is wrong with a history, taken when all was calm: views against the log, the log against the checkpoint, receipts. */
export function checkHistory({ threads, charges, unfinished, trespasses }: History): readonly Finding[] {
  return [
    ...threads.flatMap(checkThread),
    ...unfinished.map((each): Finding => ({ kind: "hung", ...each })),
    ...trespasses.map((each): Finding => ({ kind: "foreign", ...each })),
    ...(charges ? chargeProblems(charges) : []).map(
      (words): Finding => ({ kind: "wrongCharge", thread: "", words }),
    ),
  ];
}

function checkThread(history: ThreadHistory): readonly Finding[] {
  const thread = threadLabel(history);
  return [
    ...checkViews(history),
    ...checkRuns(history),
    ...checkSent(history),
    ...checkConversation(history),
    ...checkMarks(history),
    ...checkMutations(history),
  ].map((finding) => ({ ...finding, thread }));
}

type Found = Omit<Finding, "thread">;

function checkViews({ viewers, log, stored }: ThreadHistory): readonly Found[] {
  const differences = viewers.flatMap((viewer) => {
    const difference = viewerDifference(viewer, log[viewer.view]);
    return difference ? [{ ...difference, words: `viewer ${viewer.name}: ${difference.words}` }] : [];
  });
  if (stored === log.envelopes.length) return differences;
  const words = `the table has ${stored} entries, a fresh reader is told ${log.envelopes.length}`;
  return [...differences, { kind: "lost", words }];
}

function checkRuns({ runs }: ThreadHistory): readonly Found[] {
  return runs
    .filter(({ status }) => OPEN.has(status))
    .map(({ runId, alias, status }) => ({
      kind: "stuck",
      words: `run ${alias ?? runId} is still ${status}`,
    }));
}

function checkSent({ sent, runs, held }: ThreadHistory): readonly Found[] {
  const found: Found[] = [];
  for (const { runId, words, fate } of sent) {
    const own = runs.filter(({ alias }) => alias === runId);
    if (fate === "accepted" && own.length === 0)
      found.push({ kind: "lost", words: `run ${runId} was accepted and does not exist` });
    if (fate === "refused" && own.length > 0)
      found.push({ kind: "disagreement", words: `run ${runId} was refused and exists` });
    if (own.length > 1) found.push({ kind: "doubled", words: `run ${runId} exists ${own.length} times` });
    if (words === undefined) continue;
    const times = held.filter((line) => line.includes(words)).length;
    if (times > 1)
      found.push({ kind: "doubled", words: `message "${words}" is ${times} times in the checkpoint` });
    if (times === 0 && own.some(({ status }) => HAS_BEGUN.has(status)))
      found.push({ kind: "lost", words: `message "${words}" of run ${runId} is not in the checkpoint` });
    if (times > 0 && own.length === 0)
      found.push({
        kind: "disagreement",
        words: `message "${words}" is in the checkpoint without its run`,
      });
  }
  return found;
}

function checkConversation({ shown, held, pages }: ThreadHistory): readonly Found[] {
  return [
    ...disagreements("the log", shown, held),
    ...pages.flatMap(({ name, messages }) => disagreements(`page ${name}`, messages, held)),
  ];
}

function disagreements(name: string, shown: readonly string[], held: readonly string[]): readonly Found[] {
  return conversationDifferences(shown, held).map((words) => ({
    kind: "disagreement",
    words: `${name} ${words}`,
  }));
}

/** Every text that a person sends names its account. */
function checkMarks({ account, viewers, log, held }: ThreadHistory): readonly Found[] {
  const found: Found[] = [];
  const foreign = (marks: readonly string[]) => marks.find((mark) => mark !== account);
  for (const { name, connections } of viewers) {
    const mark = connections
      .flat()
      .map(({ marks }) => foreign(marks))
      .find(Boolean);
    if (mark) found.push({ kind: "foreign", words: `viewer ${name} was told a text of ${mark}` });
  }
  const inLog = log.envelopes.map(({ marks }) => foreign(marks)).find(Boolean);
  if (inLog) found.push({ kind: "foreign", words: `the log has a text of ${inLog}` });
  const inState = held.map((line) => foreign(marksIn(line))).find(Boolean);
  if (inState) found.push({ kind: "foreign", words: `the checkpoint has a text of ${inState}` });
  return found;
}

function checkMutations({ mutations: { accepted, applied } }: ThreadHistory): readonly Found[] {
  const found = accepted.flatMap((words): readonly Found[] => {
    const times = applied.filter((line) => line.includes(words)).length;
    if (times === 1) return [];
    return [
      { kind: times === 0 ? "lost" : "doubled", words: `mutation "${words}" was applied ${times} times` },
    ];
  });
  if (found.length > 0 || applied.length === accepted.length) return found;
  return [
    { kind: "doubled", words: `${accepted.length} mutations were accepted, ${applied.length} applied` },
  ];
}

/** What marks a text as an account's own. */
export const markOf = (account: string): string => `tenant-${account}`;

export function marksIn(text: string): readonly string[] {
  return [...new Set([...text.matchAll(/\btenant-(\w+)/g)].map(([, account = ""]) => account))];
}
