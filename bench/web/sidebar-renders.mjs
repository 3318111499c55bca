/**
 * In the page, before anything else: counts React's commits that draw more of the answer, and those of them that render any
 * component of the sidebar. A production build tells it as it tells React's own developer tools. A fiber that was rendered is
 * another object than at the commit before, and carries the flag "performed work".
 */
export function countSidebarRenders() {
  const PERFORMED_WORK = 1;
  const SIDEBAR = "aside nav[aria-label=Agents]";
  // The message alone: its turn also shows how long the run has taken, which a clock draws in one commit with the sidebar's times.
  const ANSWER = "[aria-label=Conversation] ol > :last-child [id^=message-]";
  let isCounting = false;
  let tokenCommits = 0;
  let sidebarWithToken = 0;
  let answerLength = 0;
  let known = new Set();

  const fiberOf = (element) => {
    const key = element && Object.keys(element).find((name) => name.startsWith("__reactFiber$"));
    return key && element[key];
  };

  /** The fiber that holds the element now: the element itself may point to the one of a commit before. */
  function currentOf(fiber) {
    let top = fiber;
    while (top.return) top = top.return;
    return top.stateNode.current === top ? fiber : (fiber.alternate ?? fiber);
  }

  /** Whether a component of the sidebar was rendered by this commit. */
  function didRender(root) {
    let isRendered = false;
    const now = new Set();
    const visit = (fiber) => {
      for (let one = fiber; one; one = one.sibling) {
        now.add(one);
        if (!known.has(one) && typeof one.type === "function" && one.flags & PERFORMED_WORK)
          isRendered = true;
        visit(one.child);
      }
    };
    visit(root.child);
    known = now;
    return isRendered;
  }

  globalThis.renders = {
    begin() {
      [isCounting, tokenCommits, sidebarWithToken] = [true, 0, 0];
    },
    end() {
      isCounting = false;
      return { tokenCommits, sidebarWithToken };
    },
  };
  globalThis.__REACT_DEVTOOLS_GLOBAL_HOOK__ = {
    supportsFiber: true,
    inject: () => 1,
    checkDCE() {},
    onCommitFiberUnmount() {},
    onPostCommitFiberRoot() {},
    onCommitFiberRoot() {
      if (!isCounting) return;
      const sidebar = fiberOf(document.querySelector(SIDEBAR)?.closest("aside"));
      if (!sidebar) throw new Error("The page has no sidebar to count.");
      const isFirst = known.size === 0;
      const isRendered = didRender(currentOf(sidebar));
      const length = document.querySelector(ANSWER)?.textContent.length ?? 0;
      const isToken = length !== answerLength;
      answerLength = length;
      if (isFirst || !isToken) return;
      tokenCommits += 1;
      if (isRendered) sidebarWithToken += 1;
    },
  };
}
