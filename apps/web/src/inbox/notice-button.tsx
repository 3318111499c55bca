"use client";

import { type ReactNode, useEffect, useState } from "react";
import { Button } from "../design/button";
import { useKeptFlag } from "../design/use-kept-flag";
import styles from "./notice-button.module.css";
import { forgetTold } from "./told-questions";
import { NOTICES_FLAG } from "./use-notifier";

/** Turns notifications of the browser on and off. They are asked for by this press and never before. */
export function NoticeButton(): ReactNode {
  const [isWanted, setWanted] = useKeptFlag(NOTICES_FLAG);
  const [permission, setPermission] = useState<NotificationPermission>();
  useEffect(() => {
    if ("Notification" in window && "locks" in navigator) setPermission(Notification.permission);
  }, []);

  function turnOff(): void {
    setWanted(false);
    forgetTold();
  }

  async function turnOn(): Promise<void> {
    const answer = await Notification.requestPermission();
    setPermission(answer);
    if (answer === "granted") setWanted(true);
  }

  // A browser without them, or a connection that it does not trust.
  if (permission === undefined) return null;
  if (permission === "denied") {
    return (
      <p className={styles.blocked}>
        This browser blocks notifications. Allow them in its settings for this page.
      </p>
    );
  }
  const isOn = isWanted && permission === "granted";
  return (
    <Button aria-pressed={isOn} onClick={() => (isOn ? turnOff() : void turnOn())}>
      {isOn ? "Notifications are on" : "Notify me"}
    </Button>
  );
}
