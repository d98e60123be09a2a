--[[
Shared functions of the scripts; every script for ledgers begins with this text.

A commit is its entry in the log: appending the last part of the entry makes the commit, for every reader.
Rows, ids and meta are derived from it. If a script is interrupted before it has updated them, it leaves an
entry that meta does not contain, and the next script updates them first. A rejected script never reaches the
append.

KEYS[1]  meta (hash)      KEYS[3]  log (stream)
KEYS[2]  rows (hash)      KEYS[4]  ids (sorted set)
]]
local meta, rows, log, ids = KEYS[1], KEYS[2], KEYS[3], KEYS[4]

-- `created` values per commit.
local CREATED_PER_COMMIT = 65536
-- Rows in one log entry and in one command: Lua passes at most about 8,000 values to a function.
local PART_ROWS = 500
-- Entries that one commit trims from the log, so that a lowered retention takes effect without one long
-- pause.
local TRIMMED_MAX = 64
-- Log entries read at a time while the rows are brought up to date with the log.
local READ_PARTS = 16
-- Sums of rows are modulo this number, so that additions are exact.
local SUM_LIMIT = 281474976710656

local function text(number)
  return string.format('%.0f', number)
end

-- Returns the amount that a row adds to the sum of all rows: 48 bits of a hash of key and stored value
-- (`row-tally.ts`).
local function share_of(key, stored)
  local hash = redis.sha1hex(struct.pack('>I2', #key) .. key .. stored)
  return tonumber(string.sub(hash, 1, 6), 16) * 16777216 + tonumber(string.sub(hash, 7, 12), 16)
end

-- Returns the position of the ledger; nil if there is no ledger. `is_counted`: count and sum belong to this
-- sequence. That is false if another release has committed since.
local function head_of()
  local found = redis.call('HMGET', meta, 'epoch', 'sequence', 'id', 'first', 'count', 'sum', 'summed', 'damage')
  if not found[1] then
    return nil
  end
  local sequence = tonumber(found[2])
  return {
    epoch = found[1],
    sequence = sequence,
    id = found[3],
    first = tonumber(found[4]),
    count = tonumber(found[5] or ''),
    sum = tonumber(found[6] or ''),
    is_counted = sequence ~= nil and tonumber(found[7] or '') == sequence,
    damage = found[8] or (not (sequence and found[3] and found[4]) and 'meta') or nil,
    -- Part number of the first entry of the next commit.
    part = 0,
  }
end

-- Converts the fields of a part in the log to the form that `apply` takes.
local function taken_apart(fields)
  local part = { id = fields[2], removed = {}, written = {} }
  local at = 5
  while at < #fields do
    local name, value = fields[at], fields[at + 1]
    if name == 'd' then
      part.removed[#part.removed + 1] = value
    elseif name == 'p' then
      part.written[#part.written + 1] = value
      part.written[#part.written + 1] = fields[at + 3]
      at = at + 2
    elseif name == 'n' then
      part.count = value
    elseif name == 's' then
      part.sum = value
    end
    at = at + 2
  end
  return part
end

-- Applies the next commit, which consists of these parts, to rows, ids and meta. Idempotent.
local function apply(head, parts)
  local sequence, id = head.sequence + 1, parts[1].id
  local count, sum = parts[#parts].count, parts[#parts].sum
  for _, part in ipairs(parts) do
    if #part.removed > 0 then
      redis.call('HDEL', rows, unpack(part.removed))
    end
    if #part.written > 0 then
      redis.call('HSET', rows, unpack(part.written))
    end
  end
  redis.call('ZADD', ids, text(sequence), id)
  local fields = { 'sequence', text(sequence), 'id', id, 'first', text(head.first) }
  if count then
    for _, value in ipairs({ 'count', count, 'sum', sum, 'summed', text(sequence) }) do
      fields[#fields + 1] = value
    end
  end
  redis.call('HSET', meta, unpack(fields))
  head.sequence, head.id, head.is_counted, head.part = sequence, id, count ~= nil, 0
  head.count, head.sum = tonumber(count or ''), tonumber(sum or '')
end

-- Applies all commits in the log that rows, ids and meta lack. There are rarely any. The parts of a commit
-- that a script could not complete are ignored: the last part is missing, and the next commit follows them.
local function finish(head)
  local parts, from = {}, text(head.sequence + 1) .. '-0'
  while true do
    local found = redis.call('XRANGE', log, from, '+', 'COUNT', READ_PARTS)
    for _, entry in ipairs(found) do
      local sequence, part = string.match(entry[1], '^(%d+)-(%d+)$')
      local fields = entry[2]
      if tonumber(sequence) ~= head.sequence + 1 or fields[1] ~= 'i' or fields[3] ~= 'l' then
        head.damage = 'log'
        return
      end
      -- The first part of a commit.
      if fields[5] == 'c' then
        parts = {}
      end
      parts[#parts + 1] = taken_apart(fields)
      head.part = tonumber(part) + 1
      if fields[4] == '0' then
        apply(head, parts)
        parts = {}
      end
    end
    if #found < READ_PARTS then
      return
    end
    from = '(' .. found[#found][1]
  end
end

-- Finds lost keys, as far as they can be detected in constant time.
local function examine(head)
  local count = redis.call('HLEN', rows)
  if not head.damage and head.is_counted and head.count ~= count then
    head.damage = 'rows'
  end
  -- If ids are lost, only the knowledge of earlier commit ids is lost. From here on, ids are known again.
  if head.sequence > 0 and not redis.call('ZSCORE', ids, head.id) then
    head.first = head.sequence + 1
  end
  return count
end
