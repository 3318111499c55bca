import { nonePending, type PendingCommands } from "../client/command-shell.js";
import type { LineHooks, ShownInput, ThreadLine } from "../client/thread-line.js";
import { commandsOf } from "../commands/adopt-scheduler.js";
import type { Answer, Command, CommandOutcome } from "../commands/command.js";
import { idleScheduler, needsLine, type Scheduler } from "../commands/scheduler-state.js";
import type { ConnectionStatus } from "../connection/connection.js";
import { type Authority, emptyProjection, type Projection, project } from "../projection/projection.js";
import { noneSeen } from "../projection/seen-frames.js";
import { emptyView, type ThreadView } from "../projection/thread-view.js";
import type { LeaderMessage } from "./tab-message.js";

/** A leader's word without its epoch, which whoever posts it adds. */
export type LeaderWord = LeaderMessage extends infer Message
  ? Message extends LeaderMessage
    ? Omit<Message, "epoch">
    : never
  : never;

type WordAbout<Kind extends LeaderMessage["kind"]> = Extract<LeaderMessage, { kind: Kind }>;

export interface SharedLineOptions extends LineHooks {
  readonly key: string;
  readonly createLine: (hooks: LineHooks) => ThreadLine;
  /** As leader: tells the others. */
  readonly tell: (word: LeaderWord) => void;
  /** As follower: asks the leader. */
  readonly askForSnapshot: () => void;
  readonly askToSubmit: (command: Command) => void;
  readonly askToDiscard: (messageId: string) => void;
  readonly askToReconnect: () => void;
  /** The answer to what this tab sent while it led. */
  readonly passAnswer: (id: string, answer: Answer) => void;
  /** Pages of this tab were opened or closed. */
  readonly onOpen: () => void;
  /** As leader: where the numbers of this line's words begin, above those of any line it had for the thread before. */
  readonly firstSeq: () => number;
}

/** A thread's line that one tab holds and the others replay. Which one this is may change at any time. */
export interface SharedLine extends ThreadLine {
  /** From now on this tab holds the line. `handed`: what the tab before it had under way. */
  lead(handed?: Scheduler): void;
  /** Gives away what is under way, for another tab to go on with; `undefined` where that is nothing. */
  yield(): Scheduler | undefined;
  /** From now on another holds it; that one is asked for everything. */
  follow(): void;
  isOpenHere(): boolean;
  /** How the thread stands here, where that is known. */
  offer(): { readonly view: ThreadView; readonly cursor: string | undefined } | undefined;
  /** Another tab's, for a line that knows nothing yet. */
  takeOffer(view: ThreadView, cursor: string | undefined): void;
  openElsewhere(isOpen: boolean): void;
  hear(message: WordAbout<"shown" | "state" | "snapshot" | "settled">): void;
  tellSnapshot(): void;
  /** Another tab's command. Its outcome is told to all. */
  submitFor(command: Command): void;
}

const REMEMBERED = 100;
/** Of a replica: nobody else writes to it. */
const REPLICA: Authority = { source: "detail-connect", epoch: 1 };

export function createSharedLine(options: SharedLineOptions): SharedLine {
  const { key, tell } = options;
  let line: ThreadLine | undefined;
  let replica: Projection = { ...emptyProjection, authority: REPLICA, epoch: REPLICA.epoch };
  let status: ConnectionStatus = { kind: "connecting" };
  let pending: PendingCommands = nonePending;
  /** Of the last word that was shown; `undefined`: what is shown is not known to be whole. */
  let seq: number | undefined;
  let openHere = 0;
  let isOpenElsewhere = false;
  let release: (() => void) | undefined;
  let closed = false;
  const unsettled = new Map<string, { readonly command: Command; settle(outcome: CommandOutcome): void }>();
  /** As leader: how what was asked came out, if it did; so that what is asked twice is done once. */
  const submitted = new Map<string, CommandOutcome | undefined>();

  function submitHere(to: ThreadLine, command: Command): void {
    const known = submitted.get(command.id);
    if (known) settleAll(command.id, known);
    if (submitted.has(command.id)) return;
    remember(command.id, undefined);
    void to.submit(command);
  }

  function remember(id: string, outcome: CommandOutcome | undefined): void {
    submitted.delete(id);
    submitted.set(id, outcome);
    const [oldest] = submitted.keys();
    if (submitted.size > REMEMBERED && oldest !== undefined) submitted.delete(oldest);
  }

  function settleAll(id: string, outcome: CommandOutcome): void {
    remember(id, outcome);
    tell({ kind: "settled", key, id, outcome });
    settle(id, outcome);
  }

  function settle(id: string, outcome: CommandOutcome): void {
    const waiting = unsettled.get(id);
    unsettled.delete(id);
    waiting?.settle(outcome);
  }

  function updateOpen(): void {
    const isOpen = openHere > 0 || isOpenElsewhere;
    if (isOpen && line) release ??= line.open();
    else {
      release?.();
      release = undefined;
    }
  }

  function replay(input: ShownInput): void {
    const owned = input.kind === "frames" ? { ...input, authority: REPLICA } : input;
    const [next, effects] = project({ ...replica, authority: REPLICA }, owned);
    replica = next;
    options.onShown(input);
    if (effects.some(({ kind }) => kind === "misfit")) askAgain();
  }

  function askAgain(): void {
    seq = undefined;
    options.askForSnapshot();
  }

  function tellState(): void {
    if (!line) return;
    if (line.pending() === pending && line.status() === status) return;
    status = line.status();
    pending = line.pending();
    tell({ kind: "state", key, status, pending });
  }

  return {
    view: () => (line ?? { view: () => replica.view }).view(),
    status: () => line?.status() ?? status,
    projection: () => line?.projection() ?? replica,
    pending: () => line?.pending() ?? pending,
    submit(command) {
      if (closed) return Promise.resolve({ kind: "unreachable" });
      return new Promise((resolve) => {
        unsettled.set(command.id, { command, settle: resolve });
        if (line) submitHere(line, command);
        else options.askToSubmit(command);
      });
    },
    open() {
      openHere += 1;
      updateOpen();
      options.onOpen();
      let released = false;
      return () => {
        if (released) return;
        released = true;
        openHere -= 1;
        updateOpen();
        options.onOpen();
      };
    },
    // Whoever holds the line polls for all.
    poll: () => line?.poll() ?? Promise.resolve(true),
    adopt: (view, cursor, handed) => line?.adopt(view, cursor, handed),
    handOver: () => line?.handOver() ?? idleScheduler,
    answered: (id, answer) => line?.answered(id, answer),
    discard(messageId) {
      if (line) line.discard(messageId);
      else options.askToDiscard(messageId);
    },
    reconnect() {
      if (line) line.reconnect();
      else options.askToReconnect();
    },
    close() {
      closed = true;
      const left = line;
      line = undefined;
      left?.close();
      for (const id of [...unsettled.keys()]) settle(id, { kind: "unreachable" });
    },

    lead(handed) {
      if (line) return;
      seq = options.firstSeq();
      submitted.clear();
      for (const { id } of handed ? commandsOf(handed) : []) remember(id, undefined);
      const unconfirmed = handed?.unconfirmed?.id;
      if (unconfirmed !== undefined) remember(unconfirmed, undefined);
      // A line that was taken from us has nothing more to say.
      const isOurs = () => line === own;
      const own: ThreadLine = options.createLine({
        onChange() {
          if (!isOurs()) return;
          tellState();
          options.onChange();
        },
        onShown(input) {
          if (!isOurs()) return;
          seq = (seq ?? 0) + 1;
          tell({ kind: "shown", key, seq, input });
          options.onShown(input);
        },
        onSettled(id, outcome) {
          if (isOurs()) settleAll(id, outcome);
        },
        onLateAnswer: options.passAnswer,
      });
      line = own;
      own.adopt(replica.view, replica.cursor, handed);
      updateOpen();
      for (const { command } of [...unsettled.values()]) submitHere(own, command);
      options.onChange();
    },
    yield() {
      const handed = line?.handOver();
      return handed && (needsLine(handed) || handed.lastConfirmed !== undefined) ? handed : undefined;
    },
    follow() {
      const left = line;
      if (left) {
        const { view, cursor } = left.projection();
        replica = { ...replica, view, cursor, seen: noneSeen };
        status = left.status();
        pending = left.pending();
        line = undefined;
        release = undefined;
        left.close();
      }
      askAgain();
      for (const { command } of [...unsettled.values()]) options.askToSubmit(command);
    },
    isOpenHere: () => openHere > 0,
    offer() {
      const held = line?.projection() ?? replica;
      return isKnown(held) ? { view: held.view, cursor: held.cursor } : undefined;
    },
    takeOffer(view, cursor) {
      if (line && !isKnown(line.projection())) line.adopt(view, cursor);
    },
    openElsewhere(isOpen) {
      isOpenElsewhere = isOpen;
      updateOpen();
    },
    hear(message) {
      if (line) return;
      switch (message.kind) {
        case "shown":
          if (seq === undefined || message.seq <= seq) return;
          if (message.seq > seq + 1) return askAgain();
          seq = message.seq;
          replay(message.input);
          break;
        case "snapshot":
          seq = message.seq;
          // What is shown stays until the leader is told: frames that tell everything fit whatever is there.
          if (message.isKnown) replay({ kind: "adopt", view: message.view, cursor: message.cursor });
          ({ status, pending } = message);
          break;
        case "state":
          ({ status, pending } = message);
          break;
        case "settled":
          settle(message.id, message.outcome);
          return;
      }
      options.onChange();
    },
    tellSnapshot() {
      if (!line) return;
      const { view, cursor } = line.projection();
      tell({
        kind: "snapshot",
        key,
        seq: seq ?? 0,
        view,
        cursor,
        isKnown: isKnown(line.projection()),
        status: line.status(),
        pending: line.pending(),
      });
    },
    submitFor(command) {
      if (line) submitHere(line, command);
    },
  };
}

function isKnown({ view }: Projection): boolean {
  return view !== emptyView;
}
