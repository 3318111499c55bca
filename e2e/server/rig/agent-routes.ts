/** The AG-UI routes of one server, as a caller uses them by hand. */
export interface AgentRoutes {
  run(agent: string, input: object, headers?: Headers): Promise<Response>;
  connect(agent: string, input: object, headers?: Headers): Promise<Response>;
  stop(agent: string, threadId: string, body?: object, headers?: Headers): Promise<Response>;
  /** A thread's envelopes. */
  events(agent: string, threadId: string, query?: string, headers?: Headers): Promise<Response>;
}

type Headers = Readonly<Record<string, string>>;

export function agentRoutes(url: string): AgentRoutes {
  const base = `${url}/api/copilotkit/agent`;
  const post = (path: string, body: object, headers: Headers = {}) =>
    fetch(path, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify(body),
    });
  return {
    run: (agent, input, headers) => post(`${base}/${agent}/run`, input, headers),
    connect: (agent, input, headers) => post(`${base}/${agent}/connect`, input, headers),
    stop: (agent, threadId, body = {}, headers) =>
      post(`${base}/${agent}/stop/${encodeURIComponent(threadId)}`, body, headers),
    events: (agent, threadId, query = "?follow=false", headers = {}) =>
      fetch(`${url}/agents/${agent}/threads/${encodeURIComponent(threadId)}/events${query}`, { headers }),
  };
}

export const said = (id: string, content: string) => ({ id, role: "user", content });
