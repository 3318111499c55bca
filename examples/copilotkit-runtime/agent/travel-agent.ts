import { AbstractAgent, type BaseEvent, EventType, type RunAgentInput } from "@ag-ui/client";
import { Observable } from "rxjs";

const FLIGHTS = [
  { airline: "KLM", departure: "Amsterdam (AMS)", price: "$650" },
  { airline: "United", departure: "Amsterdam (AMS)", price: "$720" },
];
const HOTELS = [
  { name: "Hotel Zephyr", location: "Fisherman's Wharf", price_per_night: "$280/night" },
  { name: "Hotel Zoe", location: "Union Square", price_per_night: "$320/night" },
];
const BETWEEN_WORDS_MS = 60;

/** Any AG-UI agent will do. This one needs no model and no server: it asks for a flight, a hotel and a yes. */
export class TravelAgent extends AbstractAgent {
  private stopped = false;

  override run(input: RunAgentInput): Observable<BaseEvent> {
    return new Observable((subscriber) => {
      const tell = (event: object) => subscriber.next(event as BaseEvent);
      void this.plan(input, tell).then(
        () => subscriber.complete(),
        (error) => subscriber.error(error),
      );
    });
  }

  override abortRun(): void {
    this.stopped = true;
  }

  private async plan(input: RunAgentInput, tell: (event: object) => void): Promise<void> {
    const { threadId, runId, resume = [], state } = input;
    const [answer] = resume;
    const question = answer?.interruptId.split(" ")[0];
    const trip = { ...state };
    if (question === "flights") trip.flight = answer?.payload;
    if (question === "hotels") trip.hotel = answer?.payload;
    const say = (text: string) => this.say(runId, text, tell);
    const ask = (agent: string, asked: object) => {
      const interrupts = [
        { id: `${agent} ${runId}`, reason: agent, metadata: { payload: { agent, ...asked } } },
      ];
      tell({ type: EventType.RUN_FINISHED, threadId, runId, outcome: { type: "interrupt", interrupts } });
    };
    tell({ type: EventType.RUN_STARTED, threadId, runId });
    tell({ type: EventType.STATE_SNAPSHOT, snapshot: trip });
    if (question === "booking") {
      const isApproved = JSON.stringify(answer?.payload).includes("approve");
      await say(isApproved ? "Booked. Have a good trip!" : "Nothing was booked.");
    } else if (question === "hotels") {
      await say("One last thing before I book.");
      if (!this.stopped)
        return ask("booking", {
          message: "Shall I book both?",
          actionRequests: [{ name: "book", args: trip }],
        });
    } else if (question === "flights") {
      await say("A good choice. Now a hotel.");
      if (!this.stopped)
        return ask("hotels", { message: "Which hotel?", options: HOTELS, recommendation: HOTELS[1] });
    } else if (/story/i.test(JSON.stringify(input.messages.at(-1)?.content ?? ""))) {
      await say(Array.from({ length: 60 }, (_, mile) => `Mile ${mile + 1} was calm.`).join(" "));
    } else {
      await say("I looked for flights from Amsterdam to San Francisco and found these two for you.");
      if (!this.stopped)
        return ask("flights", { message: "Which flight?", options: FLIGHTS, recommendation: FLIGHTS[0] });
    }
    tell({ type: EventType.RUN_FINISHED, threadId, runId });
  }

  private async say(runId: string, text: string, tell: (event: object) => void): Promise<void> {
    const messageId = `answer ${runId}`;
    tell({ type: EventType.TEXT_MESSAGE_START, messageId, role: "assistant" });
    for (const word of text.split(" ")) {
      if (this.stopped) break;
      tell({ type: EventType.TEXT_MESSAGE_CONTENT, messageId, delta: `${word} ` });
      await new Promise((resolve) => setTimeout(resolve, BETWEEN_WORDS_MS));
    }
    tell({ type: EventType.TEXT_MESSAGE_END, messageId });
  }
}
