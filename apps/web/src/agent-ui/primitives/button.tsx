"use client";

import type { ComponentProps, ReactNode } from "react";
import styles from "./button.module.css";
import { Icon, type IconName } from "./icon";

interface ButtonProps extends ComponentProps<"button"> {
  readonly look?: "primary" | "plain" | "quiet" | "danger";
}

export function Button({ look = "plain", type = "button", className, ...rest }: ButtonProps): ReactNode {
  const names = [styles.button, styles[look], className].filter(Boolean).join(" ");
  return <button type={type} className={names} {...rest} />;
}

interface IconButtonProps extends Omit<ButtonProps, "children" | "aria-label"> {
  readonly icon: IconName;
  /** The accessible name, also shown as tooltip. */
  readonly label: string;
}

export function IconButton({ icon, label, look = "quiet", className, ...rest }: IconButtonProps): ReactNode {
  const names = [styles.icon, className].filter(Boolean).join(" ");
  return (
    <Button look={look} aria-label={label} title={label} className={names} {...rest}>
      <Icon name={icon} />
    </Button>
  );
}
