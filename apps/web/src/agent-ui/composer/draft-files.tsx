import type { ReactNode } from "react";
import { IconButton } from "../primitives/button";
import { Icon } from "../primitives/icon";
import type { DraftFile } from "./attachment-limits";
import styles from "./draft-files.module.css";

interface DraftFilesProps {
  readonly files: readonly DraftFile[];
  readonly onRemove: (key: string) => void;
}

export function DraftFiles({ files, onRemove }: DraftFilesProps): ReactNode {
  return (
    <ul className={styles.files} aria-label="Files to send">
      {files.map(({ key, name, state, problem }) => (
        <li key={key} className={styles.file} data-state={state}>
          <Icon name={state === "failed" ? "error" : "file"} size={14} />
          <span className={styles.words}>
            <span className={styles.name} title={name}>
              {name}
            </span>
            {state === "uploading" && <span className={styles.note}>Uploading…</span>}
            {problem !== undefined && (
              <span className={styles.problem} role="alert">
                {problem}
              </span>
            )}
          </span>
          <IconButton icon="close" label={`Remove ${name}`} onClick={() => onRemove(key)} />
        </li>
      ))}
    </ul>
  );
}
