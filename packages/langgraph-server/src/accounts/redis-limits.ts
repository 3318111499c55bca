import { createHash, randomUUID } from "node:crypto";
import { type Clock, systemClock, type Timer } from "@throughline/ai-core";
import type { RedisBus } from "@throughline/thread-log";
import type { Held, SharedCounters } from "./limits.js";

/** Expiry of a meter: after a minute without use it is full again, and need not be stored. */
const METER_EXPIRY_MS = 65_000;
/** Expiry of an instance's reported permits, unless it reports them again: those of a killed instance are free by then. */
const HELD_EXPIRY_MS = 45_000;
const REPEAT_MS = 15_000;

const NOW = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
`;

/**
 * As `createTokenBuckets`, on one key, by the clock of Redis. KEYS: the meter. ARGV: perMinute, amount, need or '', expiry.
 * Returns 0, or how long to wait.
 */
const TAKE = `${NOW}
local perMinute, need = tonumber(ARGV[1]), tonumber(ARGV[3])
local left, held = perMinute, redis.call('GET', KEYS[1])
if held then
  local before, at = string.match(held, '^(%S+) (%S+)$')
  left = math.min(perMinute, before + math.max(0, now - at) * perMinute / 60000)
end
if need and left < math.min(need, perMinute) then
  return math.max(1, math.ceil((math.min(need, perMinute) - left) * 60000 / perMinute))
end
redis.call('SET', KEYS[1], string.format('%.6f %.0f', left - ARGV[2], now), 'PX', ARGV[4])
return 0
`;

/**
 * One field for each instance: how many, and until when that is valid. Expired fields are dropped. KEYS: the account's
 * permits of one kind. ARGV: instance, here, max or '', expiry. Returns 1, or 0 when the limit is reached.
 */
const HOLD = `${NOW}
local others, all = 0, redis.call('HGETALL', KEYS[1])
for i = 1, #all, 2 do
  if all[i] ~= ARGV[1] then
    local count, holds = string.match(all[i + 1], '^(%d+) (%d+)$')
    if tonumber(holds) < now then redis.call('HDEL', KEYS[1], all[i]) else others = others + count end
  end
end
if ARGV[3] ~= '' and others + ARGV[2] > tonumber(ARGV[3]) then return 0 end
if ARGV[2] == '0' then
  redis.call('HDEL', KEYS[1], ARGV[1])
else
  redis.call('HSET', KEYS[1], ARGV[1], string.format('%s %.0f', ARGV[2], now + ARGV[4]))
  redis.call('PEXPIRE', KEYS[1], ARGV[4])
end
return 1
`;

/** Counts over all instances in Redis: one key for each account and limit, so that a cluster can spread them. */
export function createRedisCounts(
  bus: Pick<RedisBus, "command" | "keyPrefix">,
  clock: Clock = systemClock,
): SharedCounters {
  const instance = randomUUID();
  const here: Readonly<Record<Held, Map<string, number>>> = { watchers: new Map(), exports: new Map() };
  let repeating: Timer | undefined;

  const keyOf = (what: string, account: string) => {
    const digest = createHash("sha256").update(account).digest("base64url").slice(0, 22);
    return `${bus.keyPrefix}:${what}:${digest}`;
  };

  async function run(script: string, key: string, ...args: readonly (string | number)[]) {
    const answer = await bus.command(key, ["EVAL", script, "1", key, ...args.map(String)]);
    return typeof answer === "number" ? answer : undefined;
  }

  const report = (what: Held, account: string, count: number, max: number | "") =>
    run(HOLD, keyOf(what, account), instance, count, max, HELD_EXPIRY_MS);

  const isHolding = () => here.watchers.size + here.exports.size > 0;

  function remember(what: Held, account: string, count: number): void {
    if (count > 0) here[what].set(account, count);
    else here[what].delete(account);
    if (isHolding()) repeating ??= clock.schedule(REPEAT_MS, repeat);
  }

  function repeat(): void {
    repeating = undefined;
    for (const what of ["watchers", "exports"] as const) {
      for (const [account, count] of here[what]) void report(what, account, count, "");
    }
    if (isHolding()) repeating = clock.schedule(REPEAT_MS, repeat);
  }

  return {
    take: (meter, account, { perMinute, amount, need }) =>
      run(TAKE, keyOf(meter, account), perMinute, amount, need ?? "", METER_EXPIRY_MS),
    async hold(what, account, count, max) {
      // Before the reply: a permit that is released meanwhile reports the count left then.
      remember(what, account, count);
      const reply = await report(what, account, count, max);
      return reply === undefined ? undefined : reply === 1;
    },
    holding(what, account, count) {
      remember(what, account, count);
      void report(what, account, count, "");
    },
    close() {
      repeating?.cancel();
    },
  };
}
