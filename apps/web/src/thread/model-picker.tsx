"use client";

import { useThreadHandle } from "@throughline/agent-react";
import { type ReactNode, useEffect } from "react";
import { useThreadSession } from "../agent-ui/conversation/thread-session";
import buttonStyles from "../agent-ui/primitives/button.module.css";
import { Icon } from "../agent-ui/primitives/icon";
import { Menu } from "../agent-ui/primitives/menu";
import { useToaster } from "../agent-ui/primitives/toast";
import { useCaller } from "../data/caller";
import { type Model, useModels } from "../data/models";
import { useChooseModel } from "../data/thread";
import styles from "./model-picker.module.css";
import { useThreadListing } from "./thread-title";

const DEFAULT = "Default model";

/**
 * Chooses the model of the thread's runs. The thread stores it; before the thread exists, the first message carries it.
 * Renders nothing where there is no choice.
 */
export function ModelPicker(): ReactNode {
  const { value: models = [] } = useModels();
  const { value: listing } = useThreadListing();
  const { model: carried, setModel: carry } = useThreadSession();
  const handle = useThreadHandle();
  const choose = useChooseModel(handle);
  const mayEdit = useCaller().refusal("edit", handle) === undefined;
  const toaster = useToaster();
  const remembered = listing?.model ?? undefined;
  const current = carried ?? remembered;

  // Another tab may choose from now on, so the carried model must not hide its choice.
  useEffect(() => {
    if (carried !== undefined && carried === remembered) carry(undefined);
  }, [carried, remembered, carry]);

  if (models.length < 2) return null;

  function change(model: string | undefined): void {
    carry(model);
    // The next message carries it to the service then.
    if (!listing || !mayEdit) return;
    choose(model ?? null).catch((error: Error) => {
      carry(undefined);
      toaster.show({ key: "model", title: "The model was not changed", text: error.message, tone: "danger" });
    });
  }

  return (
    <Menu
      label="Model"
      className={`${buttonStyles.button} ${buttonStyles.quiet} ${styles.picker}`}
      items={[
        {
          label: DEFAULT,
          note: "as the service is set",
          isChecked: current === undefined,
          onSelect: () => change(undefined),
        },
        ...models.map((model) => ({
          label: model.id,
          note: formatPrice(model),
          isChecked: current === model.id,
          onSelect: () => change(model.id),
        })),
      ]}
    >
      <Icon name="model" />
      <span className="visually-hidden">Model: </span>
      <span className={styles.name}>{current ?? DEFAULT}</span>
    </Menu>
  );
}

/** Formats the price of a million tokens, in and out, short enough for a phone; `undefined` where a price is not known. */
export function formatPrice({ inputPrice, outputPrice }: Model): string | undefined {
  if (inputPrice === null || outputPrice === null) return undefined;
  return `${perMillion(inputPrice)} in, ${perMillion(outputPrice)} out per 1M`;
}

function perMillion(price: string): string {
  const usd = Number(price) * 1_000_000;
  return `$${Number(usd.toPrecision(3))}`;
}
