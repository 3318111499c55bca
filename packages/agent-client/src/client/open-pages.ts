import { once } from "./once.js";

/** docs/requirements.md#client-3: of the pages that are open, only the newest few have a stream. */
export interface OpenPages {
  /** Opens a page until what it returns is called. */
  open(key: string): () => void;
}

export function createOpenPages(options: {
  readonly maxOpen: number;
  readonly connect: (key: string) => () => void;
  readonly onChange: (keys: readonly string[]) => void;
}): OpenPages {
  let pages: readonly { readonly key: string }[] = [];
  const connected = new Map<string, () => void>();

  function update(): void {
    const newest = [...new Set(pages.map(({ key }) => key).toReversed())].slice(0, options.maxOpen);
    for (const [key, release] of connected) {
      if (newest.includes(key)) continue;
      connected.delete(key);
      release();
    }
    for (const key of newest) {
      if (!connected.has(key)) connected.set(key, options.connect(key));
    }
    options.onChange(newest);
  }

  return {
    open(key) {
      const page = { key };
      pages = [...pages, page];
      update();
      return once(() => {
        pages = pages.filter((one) => one !== page);
        update();
      });
    },
  };
}
