// A thread is two keys: a line of text with what is known of it, and a stream with its entries. The line is one value rather
// than a hash because every append reads and writes it, and a script pays for each argument, each field and each number it
// formats. An entry's id is `{seq}-{bytes of all entries up to and with it}`, so the size of any range is two lookups; its one
// field is named by the time it was written, in milliseconds by Redis's clock (R18), and holds the envelope.

/** The line, in order, apart by a space; no value is empty or holds one. What an append changes comes first. */
export const FIELDS = [
  "fence",
  /** Of the server that last vouched for the thread. */
  "boot",
  "appendId",
  /** Names the last thing that was written to the thread, an append or an opening. */
  "mark",
  /** `{head}-{bytes}`: the id of the last entry, even when it is no longer there. */
  "last",
  /** Milliseconds since the Unix epoch, of the last append. */
  "at",
  "epoch",
  "floor",
  "floorBytes",
  "folded",
  "foldedBytes",
] as const;

const NAMES = FIELDS.join(", ").replace("last", "head, bytes");
const PATTERN = FIELDS.map((name) => (name === "last" ? "(%d+)%-(%d+)" : "(%S+)")).join(" ");

const SHARED = `
-- Tokens exceed what a Lua number holds exactly, so they are compared as the decimals they are.
local function isLower(a, b)
  if #a ~= #b then return #a < #b end
  return a < b
end
local function milliseconds()
  local time = redis.call('TIME')
  return time[1] .. string.sub('000000' .. time[2], -6, -4)
end
`;

const ONE_THREAD = `${SHARED}
local function bytesThrough(seq)
  local entry = redis.call('XRANGE', KEYS[2], seq, seq)[1]
  return tonumber(string.match(entry[1], '-(%d+)$'))
end
local line = redis.call('GET', KEYS[1])
local ${NAMES}
if line then ${NAMES} = string.match(line, '${PATTERN}') end
local function save()
  redis.call('SET', KEYS[1], table.concat({${NAMES.replace("head, bytes", "head .. '-' .. bytes")}}, ' '))
end
`;

/**
 * R22: compares the fence, assigns `seq` and adds the entries, for every thread of a commit, then wakes the other instances
 * once. Answers with the threads' lines. KEYS: line, stream, … ARGV: boot, channel, message, then per thread token, id, count
 * and as often envelope, bytes.
 */
const APPEND = `${SHARED}
local thisBoot, next, now, answers, written = ARGV[1], 4, milliseconds(), {}, false
for k = 1, #KEYS, 2 do
  local token, id, count = ARGV[next], ARGV[next + 1], ARGV[next + 2]
  local line, answer = redis.call('GET', KEYS[k]), nil
  if not line then
    answer = 'missing'
  else
    local fence, boot, appendId, head, bytes, rest =
      string.match(line, '^(%S+) (%S+) (%S+) %S+ (%d+)%-(%d+) %S+ (.*)$')
    if appendId == id then
      answer = line
    elseif isLower(token, fence) or (string.sub(id, 1, 13) == string.sub(appendId, 1, 13) and id < appendId) then
      answer = 'fenced'
    elseif boot ~= thisBoot then
      answer = 'restarted'
    else
      local last
      for entry = next + 3, next + 2 + 2 * count, 2 do
        head = head + 1
        bytes = bytes + ARGV[entry + 1]
        last = head .. '-' .. bytes
        redis.call('XADD', KEYS[k + 1], last, now, ARGV[entry])
      end
      answer = token .. ' ' .. boot .. ' ' .. id .. ' ' .. id .. ' ' .. last .. ' ' .. now .. ' ' .. rest
      redis.call('SET', KEYS[k], answer)
      written = true
    end
  end
  answers[#answers + 1] = answer
  next = next + 3 + 2 * count
end
if written then redis.call('PUBLISH', ARGV[2], ARGV[3]) end
return answers
`;

/** R22: the fence is written in the same step that reads the head. ARGV: epoch, token, boot, mark, trusted. */
const CLAIM = `${ONE_THREAD}
if not line then return 'missing' end
if epoch ~= ARGV[1] then return 'otherEpoch' end
if isLower(ARGV[2], fence) then return 'fenced' end
if boot ~= ARGV[3] and ARGV[5] ~= 'trusted' then return 'restarted ' .. head .. ' ' .. mark end
fence, boot, mark = ARGV[2], ARGV[3], ARGV[4]
save()
return 'ok ' .. head
`;

/**
 * Goes on in another epoch, unless somebody else did since `expected` was read. What is left of the log stays readable if it
 * reaches `base`, up to where PostgreSQL knows it was; else it begins anew after that, as a log that was trimmed up to there.
 * ARGV: expected, epoch, token, boot, mark, base.
 */
const RENEW = `${ONE_THREAD}
if (epoch or '') ~= ARGV[1] then return 0 end
local base = tonumber(ARGV[6])
if not line or tonumber(head) < base then
  redis.call('DEL', KEYS[2])
  appendId, head, bytes, at = '.', base, 0, milliseconds()
  floor, floorBytes, folded, foldedBytes = base + 1, 0, base, 0
end
if not fence or isLower(fence, ARGV[3]) then fence = ARGV[3] end
epoch, boot, mark = ARGV[2], ARGV[4], ARGV[5]
save()
return 1
`;

/** A restart that lost nothing of this thread. ARGV: epoch, mark, boot. */
const KEEP = `${ONE_THREAD}
if epoch ~= ARGV[1] or mark ~= ARGV[2] then return 0 end
boot = ARGV[3]
save()
return 1
`;

/** A snapshot covers everything up to a place; counts only, the snapshot itself is not here. ARGV: epoch, seq. */
const FOLD = `${ONE_THREAD}
local seq = tonumber(ARGV[2])
if epoch ~= ARGV[1] or seq <= tonumber(folded) then return 0 end
folded, foldedBytes = seq, seq < tonumber(floor) and floorBytes or bytesThrough(seq)
save()
return 1
`;

/** ARGV: epoch, through. */
const TRIM = `${ONE_THREAD}
if not line then return {0, 1} end
local first, cut = tonumber(floor), math.min(tonumber(ARGV[2]), tonumber(head))
if epoch ~= ARGV[1] or cut < first then return {0, first} end
floor, floorBytes = cut + 1, bytesThrough(cut)
save()
redis.call('XTRIM', KEYS[2], 'MINID', '=', cut + 1)
return {cut + 1 - first, cut + 1}
`;

/** The last entry that exceeds a bound, by bisection: O(log n) lookups. ARGV: maxEntries, maxBytes, maxAgeMs, each or ''. */
const EXCESS = `${ONE_THREAD}
if not line then return false end
head, bytes, floor = tonumber(head), tonumber(bytes), tonumber(floor)
local function lastWhere(exceeds)
  local low, high = floor - 1, head
  while low < high do
    local middle = math.ceil((low + high) / 2)
    if exceeds(middle) then low = middle else high = middle - 1 end
  end
  return low
end
local through = floor - 1
if ARGV[1] ~= '' then through = math.max(through, head - ARGV[1]) end
if ARGV[2] ~= '' then
  local most = tonumber(ARGV[2])
  through = math.max(through, lastWhere(function(seq)
    local before = seq == floor and tonumber(floorBytes) or bytesThrough(seq - 1)
    return bytes - before > most
  end))
end
if ARGV[3] ~= '' then
  local oldest = milliseconds() - ARGV[3]
  through = math.max(through, lastWhere(function(seq)
    return tonumber(redis.call('XRANGE', KEYS[2], seq, seq)[1][2][1]) < oldest
  end))
end
return {epoch, through < floor and 0 or through}
`;

export const SCRIPTS = {
  append: APPEND,
  claim: CLAIM,
  renew: RENEW,
  keep: KEEP,
  fold: FOLD,
  trim: TRIM,
  excess: EXCESS,
} as const;

export type ScriptName = keyof typeof SCRIPTS;
