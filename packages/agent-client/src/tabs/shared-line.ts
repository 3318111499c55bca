import { once } from "../client/store.js";
import type {
  ControllerHooks,
  MovableController,
  ShownInput,
  ThreadController,
} from "../client/thread-controller.js";
import { handedCommands } from "../commands/adopt-scheduler.js";
import { noPendingCommands, type PendingCommands } from "../commands/agent-command-scheduler.js";
import type { Command, CommandOutcome } from "../commands/command.js";
import { needsStream, type SchedulerState } from "../commands/scheduler-state.js";
import type { ConnectionStatus } from "../connection/connection-state.js";
import {
  type Authority,
  emptyProjection,
  noRecentFrames,
  type Projection,
  project,
} from "../projection/agent-projection-reducer.js";

import { emptyThreadView, type ThreadView } from "../projection/thread-view.js";
import { readFrames } from "../transport/http-agent-service.js";
import { createAskedCommands } from "./asked-commands.js";
import { createFrameRelay } from "./frame-teller.js";
import type { LeaderMessage, LeaderWord, ThreadRequest } from "./tab-channel.js";

type WordAbout<Kind extends LeaderMessage["kind"]> = Extract<LeaderMessage, { kind: Kind }>;

export interface SharedLineOptions extends ControllerHooks {
  readonly key: string;
  readonly createController: (hooks: ControllerHooks) => MovableController;
  /** As leader: sends a message to the other tabs. */
  readonly send: (word: LeaderWord) => void;
  /** As leader: calls back when pending frames are due to be sent. */
  readonly soon: (callback: () => void) => void;
  /** As follower: sends a request to the leader. */
  readonly ask: (request: ThreadRequest) => void;
  /** Pages of this tab were opened or closed. */
  readonly onOpen: () => void;
  /** As leader: the first sequence number of this line's messages, above those of any earlier line of the thread. */
  readonly firstSeq: () => number;
}

/** A thread's controller that runs in the leader tab and is replayed by the others. The leader may change at any time. */
export interface SharedLine extends ThreadController {
  /** Runs the controller in this tab from now on. `handed`: the commands under way of the previous leader. */
  lead(handed?: SchedulerState): void;
  /** Hands the commands under way over to another tab; `undefined` where there are none. */
  yield(): SchedulerState | undefined;
  /** Follows another leader from now on, of which a snapshot is requested. */
  follow(): void;
  isOpenHere(): boolean;
  /** The thread's view in this tab, where that is known. */
  offer(): { readonly view: ThreadView; readonly cursor: string | undefined } | undefined;
  /** Adopts the view of another tab, in a controller that knows nothing yet. */
  takeOffer(view: ThreadView, cursor: string | undefined): void;
  openElsewhere(isOpen: boolean): void;
  receive(message: WordAbout<"frames" | "shown" | "state" | "snapshot" | "settled">): void;
  /** As leader: performs a request of another tab. Outcomes are broadcast. */
  serve(request: ThreadRequest): void;
}

/** The authority of a replica, which has no other writer. */
const REPLICA: Authority = { source: "detail-connect", epoch: 1 };

export function createSharedLine(options: SharedLineOptions): SharedLine {
  const { key } = options;
  let line: MovableController | undefined;
  let replica: Projection = { ...emptyProjection, authority: REPLICA, epoch: REPLICA.epoch };
  let status: ConnectionStatus = { kind: "connecting" };
  let pending: PendingCommands = noPendingCommands;
  /** As follower: the sequence number of the last applied message; `undefined`: the view may be incomplete. */
  let seq: number | undefined;
  let openHere = 0;
  let isOpenElsewhere = false;
  let release: (() => void) | undefined;
  let closed = false;
  const unresolved = new Map<string, { readonly command: Command; resolve(outcome: CommandOutcome): void }>();
  const asked = createAskedCommands();
  const relay = createFrameRelay(key, options.send, options.soon);

  function submitHere(to: ThreadController, command: Command): void {
    const { id } = command;
    const known = asked.outcome(id);
    if (known) completeForAll(id, known);
    if (asked.has(id)) return;
    asked.remember(id);
    void to.submit(command);
  }

  function completeForAll(id: string, outcome: CommandOutcome): void {
    asked.remember(id, outcome);
    relay.send({ kind: "settled", key, id, outcome });
    resolveHere(id, outcome);
  }

  function resolveHere(id: string, outcome: CommandOutcome): void {
    const waiting = unresolved.get(id);
    unresolved.delete(id);
    waiting?.resolve(outcome);
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
    if (isMisfit) requestSnapshot();
  }

  function requestSnapshot(): void {
    seq = undefined;
    options.ask({ kind: "ask-snapshot" });
  }

  function sendState(): void {
    if (!line) return;
    if (line.pending() === pending && line.status() === status) return;
    status = line.status();
    pending = line.pending();
    relay.send({ kind: "state", key, status, pending });
  }

  function sendSnapshot(held: MovableController): void {
    const { view, cursor } = held.projection();
    relay.flush();
    options.send({
      kind: "snapshot",
      key,
      seq: relay.seq(),
      view,
      cursor,
      isKnown: isKnown(held.projection()),
      status: held.status(),
      pending: held.pending(),
    });
  }

  function perform(held: MovableController, request: ThreadRequest): void {
    switch (request.kind) {
      case "ask-snapshot":
        sendSnapshot(held);
        break;
      case "submit":
        submitHere(held, request.command);
        break;
      case "discard":
        held.discard(request.messageId);
        break;
      case "reconnect":
        held.reconnect();
        break;
      case "answered":
        held.acked(request.id, request.answer);
        break;
    }
  }

  function request(requested: ThreadRequest): void {
    if (line) perform(line, requested);
    else options.ask(requested);
  }

  return {
    view: () => (line ? line.view() : replica.view),
    status: () => line?.status() ?? status,
    pending: () => line?.pending() ?? pending,
    submit(command) {
      if (closed) return Promise.resolve({ kind: "unreachable" });
      return new Promise((resolve) => {
        unresolved.set(command.id, { command, resolve });
        request({ kind: "submit", command });
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
    // The leader polls for all tabs.
    poll: () => line?.poll() ?? Promise.resolve(true),
    discard: (messageId) => request({ kind: "discard", messageId }),
    reconnect: () => request({ kind: "reconnect" }),
    close() {
      relay.flush();
      closed = true;
      const left = line;
      line = undefined;
      left?.close();
      for (const id of [...unresolved.keys()]) resolveHere(id, { kind: "unreachable" });
    },

    lead(handed) {
      if (line) return;
      relay.begin(options.firstSeq());
      asked.clear();
      const given = handed && handedCommands(handed);
      for (const { id } of given?.commands ?? []) asked.remember(id);
      const unconfirmed = handed?.unconfirmed?.id;
      if (unconfirmed !== undefined) asked.remember(unconfirmed);
      // A controller that moved to another tab reports nothing more.
      const isOurs = () => line === own;
      const own: MovableController = options.createController({
        onChange() {
          if (!isOurs()) return;
          sendState();
          options.onChange();
        },
        onShown(input, texts = []) {
          if (!isOurs()) return;
          relay.shown(input, texts);
          options.onShown(input);
        },
        onCompleted(id, outcome) {
          if (isOurs()) completeForAll(id, outcome);
        },
        onLateAck(id, ack) {
          if (!closed) options.ask({ kind: "answered", id, answer: ack });
        },
      });
      line = own;
      own.adopt(replica.view, replica.cursor, given);
      updateOpen();
      for (const { command } of [...unresolved.values()]) submitHere(own, command);
      options.onChange();
    },
    yield() {
      relay.flush();
      const handed = line?.handOver();
      return handed && (needsStream(handed) || handed.lastConfirmed !== undefined) ? handed : undefined;
    },
    follow() {
      const left = line;
      if (left) {
        const { view, cursor } = left.projection();
        replica = { ...replica, view, cursor, seen: noRecentFrames };
        status = left.status();
        pending = left.pending();
        line = undefined;
        release = undefined;
        relay.drop();
        left.close();
      }
      requestSnapshot();
      for (const { command } of [...unresolved.values()]) options.ask({ kind: "submit", command });
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
    receive(message) {
      if (line) return;
      switch (message.kind) {
        case "frames":
        case "shown":
          if (seq === undefined || message.seq <= seq) return;
          if (message.seq > seq + 1) return requestSnapshot();
          seq = message.seq;
          replay(
            message.kind === "shown"
              ? message.input
              : { kind: "frames", authority: REPLICA, frames: readFrames(message.texts) },
          );
          break;
        case "snapshot":
          seq = message.seq;
          // The view stays until the leader knows the thread: a full snapshot fits any view.
          if (message.isKnown) replay({ kind: "adopt", view: message.view, cursor: message.cursor });
          ({ status, pending } = message);
          break;
        case "state":
          ({ status, pending } = message);
          break;
        case "settled":
          resolveHere(message.id, message.outcome);
          return;
      }
      options.onChange();
    },
    serve(requested) {
      if (line) perform(line, requested);
    },
  };
}

function isKnown({ view }: Projection): boolean {
  return view !== emptyThreadView;
}
