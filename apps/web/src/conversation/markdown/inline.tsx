import type { Token, Tokens } from "marked";
import type { ReactNode } from "react";
import { ShownFile } from "../files/attached-files";
import { attachmentIdOf } from "../files/content-parts";
import { useFileHref } from "../files/files-of-thread";
import { withNamedCharacters } from "./named-characters";

/** What stands within a line. Anything unknown is shown as it was written. */
export function Inline({ tokens }: { readonly tokens: readonly Token[] | undefined }): ReactNode {
  // biome-ignore lint/suspicious/noArrayIndexKey: parts of a line have no other name, and a line only grows
  return tokens?.map((token, at) => <Part key={at} token={token} />);
}

function Part({ token }: { readonly token: Token }): ReactNode {
  switch (token.type) {
    case "strong":
      return (
        <strong>
          <Inline tokens={token.tokens} />
        </strong>
      );
    case "em":
      return (
        <em>
          <Inline tokens={token.tokens} />
        </em>
      );
    case "del":
      return (
        <del>
          <Inline tokens={token.tokens} />
        </del>
      );
    case "codespan":
      return <code>{token.text}</code>;
    case "br":
      return <br />;
    case "link":
      return <Link token={token} />;
    case "image":
      return <Link token={{ ...token, tokens: [] }} />;
    case "text":
      return "tokens" in token && token.tokens ? (
        <Inline tokens={token.tokens} />
      ) : (
        withNamedCharacters(token.text)
      );
    case "escape":
      return token.text;
    case "checkbox":
      return null;
    default:
      return token.raw;
  }
}

/** Pictures are links too, but for files of the thread: a page that loads what an agent names would tell strangers who reads. */
function Link({ token }: { readonly token: Token }): ReactNode {
  const { text, tokens, ...link } = token as Tokens.Link;
  const href = withNamedCharacters(link.href);
  const fileHref = useFileHref();
  const id = attachmentIdOf(href);
  if (id !== undefined && fileHref) {
    return <ShownFile name={text} href={fileHref(id)} isPicture={token.type === "image"} />;
  }
  const words = tokens && tokens.length > 0 ? <Inline tokens={tokens} /> : withNamedCharacters(text) || href;
  if (!isSafe(href)) return words;
  return (
    <a href={href} target="_blank" rel="noopener noreferrer nofollow">
      {words}
    </a>
  );
}

function isSafe(href: string): boolean {
  return URL.canParse(href) && ["https:", "http:", "mailto:"].includes(new URL(href).protocol);
}
