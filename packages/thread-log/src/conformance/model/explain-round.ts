import type { MemoryDatabase } from "../../memory/database.js";
import { cloneDatabase, type Known, knownIn, normalAnswer, normalDatabase } from "./normal-form.js";
import { attempt, type Outcome, type Part, referenceOn } from "./operation.js";

export interface Round {
  readonly before: MemoryDatabase;
  /** All at once: any order of them may be the one that happened. */
  readonly parts: readonly Part[];
  readonly after: MemoryDatabase;
}

/**
 * Looks for an order in which the reference, given the same operations one by one, answers the same and comes to the same
 * database. What was lost may have happened or not. `undefined` when there is one, else how the nearest differs.
 */
export async function explainRound({ before, parts: firsts, after }: Round): Promise<string | undefined> {
  const parts = firsts.flatMap(withNext);
  const known = knownIn(before);
  const expected = normalDatabase(after, known);
  const expectedText = JSON.stringify(expected);
  const isConcurrent = firsts.length > 1;
  let nearest = { done: -1, text: "" };
  /** What is left to do, and the database by then: parts that do not touch each other need not be tried in every order. */
  const tried = new Set<string>();
  const answerOf = (outcome: Outcome) => JSON.stringify(normalOutcome(outcome, known, isConcurrent));
  const answers = parts.map(({ outcome }) => answerOf(outcome));

  async function search(
    database: MemoryDatabase,
    left: readonly number[],
    told: readonly string[],
  ): Promise<boolean> {
    if (left.length === 0) {
      const reached = normalDatabase(database, known);
      if (JSON.stringify(reached) === expectedText) return true;
      const differs = differences(reached, expected).slice(0, 12).join("\n  ");
      note(parts.length, `${told.join("\n")}\nthen the reference holds, and the database:\n  ${differs}`);
      return false;
    }
    if (told.length > 0) {
      const place = `${left} ${JSON.stringify(normalDatabase(database, known))}`;
      if (tried.has(place)) return false;
      tried.add(place);
    }
    for (const index of left) {
      const part = parts[index];
      if (!part) continue;
      const next = cloneDatabase(database);
      const outcome = await attempt(() => part.perform(referenceOn(next)));
      const answer = answerOf(outcome);
      const isLost = part.outcome.kind === "lost";
      if (isLost || answer === answers[index]) {
        const rest = left.flatMap((other) => (other !== index ? other : part.next ? index + 1 : []));
        if (await search(next, rest, [...told, `${part.text} → ${answer}`])) return true;
      } else {
        const found = `${part.text}\n  the reference answers ${answer}\n  the database answered ${answers[index]}`;
        note(told.length, [...told, found].join("\n"));
      }
      if (!isLost) continue;
      const rest = left.filter((other) => other !== index);
      if (await search(database, rest, [...told, `${part.text} → lost, not done`])) return true;
    }
    return false;
  }

  function note(done: number, text: string): void {
    if (done > nearest.done) nearest = { done, text };
  }

  const isExplained = await search(
    before,
    firsts.map((first) => parts.indexOf(first)),
    [],
  );
  return isExplained ? undefined : nearest.text;
}

/** A part and those that happen after it: each is followed by its next. */
function withNext(part: Part): readonly Part[] {
  return [part, ...(part.next ? withNext(part.next) : [])];
}

function normalOutcome(outcome: Outcome, known: Known, isConcurrent: boolean): unknown {
  if (outcome.kind !== "answered") return outcome;
  const answer = normalAnswer(outcome.answer, known);
  if (!isConcurrent || typeof answer !== "object" || answer === null) return answer;
  // What waits next is asked for after the end where the thread changed meanwhile: a hint, which `checkHints` judges.
  return "ok" in answer ? { ...answer, next: undefined } : answer;
}

/** Paths at which two normal forms differ, with both values. */
function differences(a: unknown, b: unknown, path = ""): string[] {
  if (JSON.stringify(a) === JSON.stringify(b)) return [];
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) {
    return [`${path}: ${JSON.stringify(a)?.slice(0, 300)} ≠ ${JSON.stringify(b)?.slice(0, 300)}`];
  }
  const [left, right] = [new Map(Object.entries(a)), new Map(Object.entries(b))];
  return [...new Set([...left.keys(), ...right.keys()])].flatMap((key) =>
    differences(left.get(key), right.get(key), `${path}/${key.replaceAll("\u0000", "|")}`),
  );
}
