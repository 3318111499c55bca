import type { ThreadName } from "@throughline/agent-client";
import type { ReactNode } from "react";
import { Icon } from "../../design/icon";
import styles from "./attached-files.module.css";
import type { AttachedFile } from "./content-parts";
import { attachmentPath } from "./files-of-thread";

interface AttachedFilesProps {
  readonly files: readonly AttachedFile[];
  readonly thread: ThreadName;
}

/** Pictures are shown, anything else is named; both open the file itself. */
export function AttachedFiles({ files, thread }: AttachedFilesProps): ReactNode {
  if (files.length === 0) return null;
  return (
    <ul className={styles.files} aria-label="Attachments">
      {files.map((file, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the same file may be attached twice
        <li key={at}>
          <ShownFile
            name={file.filename ?? file.mimeType ?? file.kind}
            href={file.id === undefined ? file.url : attachmentPath(thread, file.id)}
            isPicture={file.kind === "image" && file.id !== undefined}
          />
        </li>
      ))}
    </ul>
  );
}

interface ShownFileProps {
  readonly name: string;
  readonly href: string | undefined;
  /** Of the service's own store: a page that loads what an agent names would tell strangers who reads. */
  readonly isPicture: boolean;
}

export function ShownFile({ name, href, isPicture }: ShownFileProps): ReactNode {
  return (
    <a className={styles.file} href={href} target="_blank" rel="noopener noreferrer">
      {isPicture ? (
        // biome-ignore lint/performance/noImgElement: behind the session's cookie, where no optimiser can go
        <img className={styles.image} src={href} alt={name} loading="lazy" />
      ) : (
        <>
          <Icon name="file" size={14} />
          <span className={styles.name}>{name}</span>
        </>
      )}
    </a>
  );
}
