import { memo } from "react";
import { contentText, useMessage, useMessageIds } from "../index.js";

export function Messages() {
  return useMessageIds().map((id) => <Message key={id} id={id} />);
}

const Message = memo(({ id }: { id: string }) => <p>{contentText(useMessage(id)?.content)}</p>);
