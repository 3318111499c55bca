import { type ThreadName, threadCall } from "@throughline/agent-client";
import type { ReactNode } from "react";
import { Icon } from "../design/icon";
import { segment } from "../service/ask-service";
import styles from "./attached-files.module.css";
import type { AttachedFile } from "./content-parts";

interface AttachedFilesProps {
  readonly files: readonly AttachedFile[];
  readonly thread: ThreadName;
}

/** Pictures are shown, anything else is named; both open the file itself. */
export function AttachedFiles({ files, thread }: AttachedFilesProps): ReactNode {
  if (files.length === 0) return null;
  return (
    <ul className={styles.files} aria-label="Attachments">
      {files.map((file, at) => {
        const href = file.id === undefined ? file.url : attachmentPath(thread, file.id);
        const name = file.filename ?? file.mimeType ?? file.kind;
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: the same file may be attached twice
          <li key={at}>
            <a className={styles.file} href={href} target="_blank" rel="noopener noreferrer">
              {file.kind === "image" && file.id !== undefined ? (
                // biome-ignore lint/performance/noImgElement: behind the session's cookie, where no optimiser can go
                <img className={styles.image} src={href} alt={name} loading="lazy" />
              ) : (
                <>
                  <Icon name="file" size={14} />
                  <span className={styles.name}>{name}</span>
                </>
              )}
            </a>
          </li>
        );
      })}
    </ul>
  );
}

function attachmentPath(thread: ThreadName, id: string): string {
  return `/api/throughline${threadCall(thread, `/attachments/${segment(id)}`)}`;
}
