"""Python twins of the suite's `counter` and `asker`: the same names, states and answers."""

import asyncio
import json
from operator import add
from typing import Annotated, Any
from uuid import uuid4

from langchain_core.messages import AIMessage, AnyMessage
from langgraph.config import get_stream_writer
from langgraph.graph import END, START, StateGraph
from langgraph.graph.message import add_messages
from langgraph.types import interrupt
from typing_extensions import TypedDict


class CounterState(TypedDict, total=False):
    messages: Annotated[list[AnyMessage], add_messages]
    count: int
    paceMs: int
    pauseMs: int


async def aloud(state: CounterState) -> dict[str, Any]:
    write = get_stream_writer()
    await asyncio.sleep(state.get("pauseMs", 0) / 1000)
    count = state.get("count", 10)
    for number in range(1, count + 1):
        await asyncio.sleep(state.get("paceMs", 0) / 1000)
        write({"number": number, "padding": "é✓" * (number % 37)})
    return {"messages": [AIMessage(id=f"counted-{count}", content=f"I counted to {count}.")]}


counter = (
    StateGraph(CounterState)
    .add_node("aloud", aloud)
    .add_edge(START, "aloud")
    .add_edge("aloud", END)
    .compile(name="counter")
)


class AskerState(TypedDict, total=False):
    messages: Annotated[list[AnyMessage], add_messages]
    answers: Annotated[list[str], add]


def record(*answers: Any) -> dict[str, Any]:
    texts = [json.dumps(answer, separators=(",", ":")) for answer in answers]
    return {"answers": texts, "messages": [AIMessage(id=str(uuid4()), content=" ".join(texts))]}


def ask(question: str):
    def node(_: AskerState) -> dict[str, Any]:
        return record(interrupt({"question": question}))

    return node


nested = (
    StateGraph(AskerState)
    .add_node("inside", ask("nested?"))
    .add_edge(START, "inside")
    .add_edge("inside", END)
    .compile(name="nested")
)


def twice(_: AskerState) -> dict[str, Any]:
    return record(interrupt({"question": "first?"}), interrupt({"question": "second?"}))


def routes(state: AskerState) -> list[str]:
    text = state["messages"][-1].text
    text = text() if callable(text) else text
    if text == "two":
        return ["one", "other"]
    return [text] if text in ("nested", "twice") else ["one"]


asker = (
    StateGraph(AskerState)
    .add_node("one", ask("one?"))
    .add_node("other", ask("other?"))
    .add_node("nested", nested)
    .add_node("twice", twice)
    .add_conditional_edges(START, routes, ["one", "other", "nested", "twice"])
    .add_edge("one", END)
    .add_edge("other", END)
    .add_edge("nested", END)
    .add_edge("twice", END)
    .compile(name="asker")
)
