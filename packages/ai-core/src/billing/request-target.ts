type FetchArguments = Parameters<typeof fetch>;

/** Where a request goes that `fetch` is given, in whichever of its forms. */
export function requestTarget(
  input: FetchArguments[0],
  init: FetchArguments[1],
): { readonly method: string; readonly url: URL } {
  const request = input instanceof Request ? input : undefined;
  return {
    method: (init?.method ?? request?.method ?? "GET").toUpperCase(),
    url: new URL(request?.url ?? String(input), "http://invalid"),
  };
}
