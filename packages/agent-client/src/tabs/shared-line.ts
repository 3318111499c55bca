import { once } from "../client/store.js";
import type { LineHooks, MovableLine, ShownInput, ThreadLine } from "../client/thread-controller.js";
import { handedCommands } from "../commands/adopt-scheduler.js";
import { nonePending, type PendingCommands } from "../commands/agent-command-scheduler.js";
import type { Command, CommandOutcome } from "../commands/command.js";
import { needsLine, type Scheduler } from "../commands/scheduler-state.js";
import type { ConnectionStatus } from "../connection/connection-state.js";
import {
  type Authority,
  emptyProjection,
  noneSeen,
  type Projection,
  project,
} from "../projection/agent-projection-reducer.js";

import { emptyView, type ThreadView } from "../projection/thread-view.js";
import { readFrames } from "../transport/http-agent-service.js";
import { createAskedCommands } from "./asked-commands.js";
import { createFrameTeller } from "./frame-teller.js";
import type { LeaderMessage, LeaderWord, ThreadWish } from "./tab-channel.js";

type WordAbout<Kind extends LeaderMessage["kind"]> = Extract<LeaderMessage, { kind: Kind }>;

export interface SharedLineOptions extends LineHooks {
  readonly key: string;
  readonly createLine: (hooks: LineHooks) => MovableLine;
  /** As leader: tells the others. */
  readonly tell: (word: LeaderWord) => void;
  /** As leader: calls back when frames that came until then are told. */
  readonly soon: (callback: () => void) => void;
  /** As follower: asks the leader. */
  readonly ask: (wish: ThreadWish) => void;
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
  hear(message: WordAbout<"frames" | "shown" | "state" | "snapshot" | "settled">): void;
  /** As leader: does what another tab asks for. Outcomes are told to all. */
  serve(wish: ThreadWish): void;
}

/** Of a replica: nobody else writes to it. */
const REPLICA: Authority = { source: "detail-connect", epoch: 1 };

export function createSharedLine(options: SharedLineOptions): SharedLine {
  const { key } = options;
  let line: MovableLine | undefined;
  let replica: Projection = { ...emptyProjection, authority: REPLICA, epoch: REPLICA.epoch };
  let status: ConnectionStatus = { kind: "connecting" };
  let pending: PendingCommands = nonePending;
  /** As follower: of the last word that was shown; `undefined`: what is shown is not known to be whole. */
  let seq: number | undefined;
  let openHere = 0;
  let isOpenElsewhere = false;
  let release: (() => void) | undefined;
  let closed = false;
  const unsettled = new Map<string, { readonly command: Command; settle(outcome: CommandOutcome): void }>();
  const asked = createAskedCommands();
  const teller = createFrameTeller(key, options.tell, options.soon);

  function submitHere(to: ThreadLine, command: Command): void {
    const { id } = command;
    const known = asked.outcome(id);
    if (known) settleAll(id, known);
    if (asked.has(id)) return;
    asked.remember(id);
    void to.submit(command);
  }

  function settleAll(id: string, outcome: CommandOutcome): void {
    asked.remember(id, outcome);
    teller.tell({ kind: "settled", key, id, outcome });
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
    const [next, effects] = project(replica, input);
    const isMisfit = effects.some(({ kind }) => kind === "misfit");
    replica = isMisfit ? { ...next, authority: REPLICA } : next;
    options.onShown(input);
    if (isMisfit) askAgain();
  }

  function askAgain(): void {
    seq = undefined;
    options.ask({ kind: "ask-snapshot" });
  }

  function tellState(): void {
    if (!line) return;
    if (line.pending() === pending && line.status() === status) return;
    status = line.status();
    pending = line.pending();
    teller.tell({ kind: "state", key, status, pending });
  }

  function tellSnapshot(held: MovableLine): void {
    const { view, cursor } = held.projection();
    teller.flush();
    options.tell({
      kind: "snapshot",
      key,
      seq: teller.seq(),
      view,
      cursor,
      isKnown: isKnown(held.projection()),
      status: held.status(),
      pending: held.pending(),
    });
  }

  function perform(held: MovableLine, wish: ThreadWish): void {
    switch (wish.kind) {
      case "ask-snapshot":
        tellSnapshot(held);
        break;
      case "submit":
        submitHere(held, wish.command);
        break;
      case "discard":
        held.discard(wish.messageId);
        break;
      case "reconnect":
        held.reconnect();
        break;
      case "answered":
        held.answered(wish.id, wish.answer);
        break;
    }
  }

  function wish(wished: ThreadWish): void {
    if (line) perform(line, wished);
    else options.ask(wished);
  }

  return {
    view: () => (line ? line.view() : replica.view),
    status: () => line?.status() ?? status,
    pending: () => line?.pending() ?? pending,
    submit(command) {
      if (closed) return Promise.resolve({ kind: "unreachable" });
      return new Promise((resolve) => {
        unsettled.set(command.id, { command, settle: resolve });
        wish({ kind: "submit", command });
      });
    },
    open() {
      openHere += 1;
      updateOpen();
      options.onOpen();
      return once(() => {
        openHere -= 1;
        updateOpen();
        options.onOpen();
      });
    },
    // Whoever holds the line polls for all.
    poll: () => line?.poll() ?? Promise.resolve(true),
    discard: (messageId) => wish({ kind: "discard", messageId }),
    reconnect: () => wish({ kind: "reconnect" }),
    close() {
      teller.flush();
      closed = true;
      const left = line;
      line = undefined;
      left?.close();
      for (const id of [...unsettled.keys()]) settle(id, { kind: "unreachable" });
    },

    lead(handed) {
      if (line) return;
      teller.begin(options.firstSeq());
      asked.clear();
      const given = handed && handedCommands(handed);
      for (const { id } of given?.commands ?? []) asked.remember(id);
      const unconfirmed = handed?.unconfirmed?.id;
      if (unconfirmed !== undefined) asked.remember(unconfirmed);
      // A line that was taken from us has nothing more to say.
      const isOurs = () => line === own;
      const own: MovableLine = options.createLine({
        onChange() {
          if (!isOurs()) return;
          tellState();
          options.onChange();
        },
        onShown(input, texts = []) {
          if (!isOurs()) return;
          teller.shown(input, texts);
          options.onShown(input);
        },
        onSettled(id, outcome) {
          if (isOurs()) settleAll(id, outcome);
        },
        onLateAnswer(id, answer) {
          if (!closed) options.ask({ kind: "answered", id, answer });
        },
      });
      line = own;
      own.adopt(replica.view, replica.cursor, given);
      updateOpen();
      for (const { command } of [...unsettled.values()]) submitHere(own, command);
      options.onChange();
    },
    yield() {
      teller.flush();
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
        teller.drop();
        left.close();
      }
      askAgain();
      for (const { command } of [...unsettled.values()]) options.ask({ kind: "submit", command });
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
        case "frames":
        case "shown":
          if (seq === undefined || message.seq <= seq) return;
          if (message.seq > seq + 1) return askAgain();
          seq = message.seq;
          replay(
            message.kind === "shown"
              ? message.input
              : { kind: "frames", authority: REPLICA, frames: readFrames(message.texts) },
          );
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
    serve(wish) {
      if (line) perform(line, wish);
    },
  };
}

function isKnown({ view }: Projection): boolean {
  return view !== emptyView;
}
