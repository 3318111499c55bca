import { z } from "zod";
import { threadAddress } from "../threads/thread-address.js";
import { type RecordedFrame, recordFrames } from "./frame-recorder.js";
import { agUi, ann, openServiceScene, startRequest } from "./service-scene.js";

/** What a killed driver was told to do, as JSON in its first argument. */
export const killOrderSchema = z.object({
  databaseUrl: z.string(),
  graphName: z.string(),
  threadName: z.string(),
  messageId: z.string(),
  text: z.string(),
  /** Dies at the `count`th frame that holds all of these texts; at once when there are none. */
  moment: z.array(z.string()),
  count: z.number().int().positive(),
});
export type KillOrder = z.infer<typeof killOrderSchema>;

/** A process that drives a run and kills itself in the middle of it, as a power cut would. */
async function driveUntilKilled(order: KillOrder): Promise<void> {
  const { service } = await openServiceScene({
    store: { kind: "postgres", databaseUrl: order.databaseUrl },
    leaseMs: 1_000,
  });
  const thread = threadAddress(ann, order.graphName, order.threadName);
  const die = () => process.kill(process.pid, "SIGKILL");
  let seen = 0;
  const isMoment = ({ data }: RecordedFrame) => {
    const text = JSON.stringify(data);
    if (!order.moment.every((part) => text.includes(part))) return false;
    seen += 1;
    return seen === order.count;
  };
  const messages = [{ id: order.messageId, role: "user" as const, content: order.text }];
  const outcome = await service.runs.start(startRequest(thread, { kind: "input", messages }));
  if (outcome.kind !== "started") throw new Error(outcome.kind);
  if (order.moment.length === 0) die();
  const recorder = recordFrames();
  service.hub.subscribe(
    thread,
    { face: agUi, from: { kind: "run", runId: outcome.run.runId }, follow: false },
    recorder,
  );
  void recorder.frame(isMoment).then(die);
  await recorder.ended;
  process.exit(3);
}

await driveUntilKilled(killOrderSchema.parse(JSON.parse(process.argv[2] ?? "")));
