--[[
Commits to the ledger of one environment: all or nothing, once per commit id.

KEYS[1]  meta (hash)      KEYS[3]  log (stream)
KEYS[2]  rows (hash)      KEYS[4]  ids (sorted set)
KEYS[5]  staged (list): the rows of a large commit in place of ARGV[12…]; absent for the others

ARGV[1]  epoch the commit belongs to
ARGV[2]  commit id, 16 bytes
ARGV[3]  sequence the sender knew when it sent this commit first; -1 when this is the first time
ARGV[4]  entries the log keeps, at least 1
ARGV[5]  channel that hears of the commit
ARGV[6]  changes, carried as they are
ARGV[7], ARGV[8], ARGV[9]  number of requirements, of deletes, of puts
ARGV[10], ARGV[11]  sequence and id of a commit that the sender's ground has; 0 and '' where it has none
ARGV[12…], or the staged list   per requirement: key, 'a' (absent) | 'v' (version) | 'c' (created), number
                                per delete: key
                                per put: key, value

Returns  {1, sequence}         committed, now or when this id came first
         {0, index, sequence}  refused: the row of that requirement (from 0) is not as required; nothing was written
         {-1}                  the history is another one than ARGV[1], or was rewound behind the sender's ground; nothing
                               was written
         {-2}                  this was sent before, and the ids do not reach back far enough to tell whether it was done
         {-3}                  the staged rows are gone; nothing was written

Nothing fails behind the first write: what could is read before it. O(requirements + rows).
]]
local meta, rows, log, ids, staged = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local epoch, id, channel, changes = ARGV[1], ARGV[2], ARGV[5], ARGV[6]
local known, kept = tonumber(ARGV[3]), tonumber(ARGV[4])
local ground, ground_id = tonumber(ARGV[10]), ARGV[11]
local requirement_count, delete_count, put_count = tonumber(ARGV[7]), tonumber(ARGV[8]), tonumber(ARGV[9])

-- Places in creation order per commit.
local CREATED_PER_COMMIT = 65536
-- Rows in one log entry and in one command: Lua passes about 8,000 values to a function at most.
local PART_ROWS = 500
-- Entries that leave the log in one commit: a lowered retention is reached without one long stop.
local TRIMMED_MAX = 64

local function text(number)
  return string.format('%.0f', number)
end

-- What is stored of a row in front of its value: created (7 bytes), then 0 where the commit that created it wrote it
-- last, else 6 and the version (6 bytes).
local function stamp_of(stored)
  local created, size = struct.unpack('>I7B', stored)
  if size == 0 then
    return created, math.floor(created / CREATED_PER_COMMIT)
  end
  return created, (struct.unpack('>I6', stored, 9))
end

local function stamped(created, sequence, value)
  if math.floor(created / CREATED_PER_COMMIT) == sequence then
    return struct.pack('>I7B', created, 0) .. value
  end
  return struct.pack('>I7BI6', created, 6, sequence) .. value
end

local head = redis.call('HMGET', meta, 'epoch', 'sequence', 'first')
if head[1] ~= epoch then
  return { -1 }
end
local done = redis.call('ZSCORE', ids, id)
if done then
  return { 1, tonumber(done) }
end
local sequence, first = tonumber(head[2]) + 1, tonumber(head[3])
if known >= 0 and known + 1 < first then
  return { -2 }
end

-- A version is a number, which a history that was rewound and went on has given again: what the sender read may be another
-- row by now. As far back as ids are known, its ground is known, too.
if ground >= first then
  local found = redis.call('ZSCORE', ids, ground_id)
  if not found or tonumber(found) ~= ground then
    return { -1 }
  end
end

local items, at = ARGV, 11
if staged then
  items, at = redis.call('LRANGE', staged, 0, -1), 0
  if #items ~= requirement_count * 3 + delete_count + put_count * 2 then
    return { -3 }
  end
end

for index = 0, requirement_count - 1 do
  local key, kind, number = items[at + 1], items[at + 2], tonumber(items[at + 3])
  at = at + 3
  local stored = redis.call('HGET', rows, key)
  local holds
  if kind == 'a' then
    holds = not stored
  elseif stored then
    local created, version = stamp_of(stored)
    holds = number == (kind == 'v' and version or created)
  end
  if not holds then
    return { 0, index, sequence - 1 }
  end
end

local deleted = {}
local row_count = delete_count + put_count
local part_count = math.max(1, math.ceil(row_count / PART_ROWS))
local part, row = 0, 0
repeat
  part = part + 1
  local entry = { 'i', id, 'l', text(part_count - part) }
  if part == 1 then
    entry[5], entry[6] = 'c', changes
  end
  local removed, written = {}, {}
  local last = math.min(row_count, part * PART_ROWS)
  while row < last do
    row = row + 1
    local key = items[at + 1]
    if row <= delete_count then
      at = at + 1
      deleted[key] = true
      removed[#removed + 1] = key
      entry[#entry + 1] = 'd'
      entry[#entry + 1] = key
    else
      local stored = not deleted[key] and redis.call('HGET', rows, key)
      local created = stored and stamp_of(stored) or sequence * CREATED_PER_COMMIT + row - delete_count - 1
      local new = stamped(created, sequence, items[at + 2])
      at = at + 2
      written[#written + 1] = key
      written[#written + 1] = new
      entry[#entry + 1] = 'p'
      entry[#entry + 1] = key
      entry[#entry + 1] = 'v'
      entry[#entry + 1] = new
    end
  end
  if #removed > 0 then
    redis.call('HDEL', rows, unpack(removed))
  end
  if #written > 0 then
    redis.call('HSET', rows, unpack(written))
  end
  redis.call('XADD', log, text(sequence) .. '-' .. text(part - 1), unpack(entry))
until part == part_count

redis.call('ZADD', ids, text(sequence), id)
local oldest = math.min(sequence - kept + 1, first + TRIMMED_MAX)
if oldest > first then
  first = oldest
  redis.call('ZREMRANGEBYSCORE', ids, '-inf', text(first - 1))
  -- The entry before the first one stays: who stands there can tell by its id whether this is still its history.
  redis.call('XTRIM', log, 'MINID', text(first - 1) .. '-0')
end
redis.call('HSET', meta, 'sequence', text(sequence), 'id', id, 'first', text(first))
if staged then
  redis.call('DEL', staged)
end
-- A hint: that somebody may not give it must not pass for a commit that was not done. Others find it by their timers.
redis.pcall('PUBLISH', channel, epoch .. '.' .. text(sequence))
return { 1, sequence }
