import { useThreads } from "../../index.js";

export function ThreadList({ onOpen }: { onOpen: (threadId: string) => void }) {
  const { threads, failure, hasMore, loadMore } = useThreads("langgraph:poet", { limit: 20 });
  if (failure) return <p>The list could not be loaded.</p>;
  return (
    <nav>
      {threads?.map(({ threadId, title, status }) => (
        <button key={threadId} type="button" onClick={() => onOpen(threadId)}>
          {title ?? threadId} ({status})
        </button>
      ))}
      {hasMore && (
        <button type="button" onClick={() => void loadMore()}>
          More
        </button>
      )}
    </nav>
  );
}
