--[[
What the scripts share; every one begins with this text.

A commit is its entry in the log, and nothing else is: appending the last part of it makes it, for every reader. Rows, ids
and meta follow from it. Whatever keeps a script from bringing them level leaves an entry behind that meta does not
know, and whichever script comes next brings them level first. A refused one never gets so far as to append.

KEYS[1]  meta (hash)      KEYS[3]  log (stream)
KEYS[2]  rows (hash)      KEYS[4]  ids (sorted set)
]]
local meta, rows, log, ids = KEYS[1], KEYS[2], KEYS[3], KEYS[4]

-- Places in creation order per commit.
local CREATED_PER_COMMIT = 65536
-- Rows in one log entry and in one command: Lua passes about 8,000 values to a function at most.
local PART_ROWS = 500
-- Entries that leave the log in one commit, so that a lowered retention is reached without one long stop.
local TRIMMED_MAX = 64
-- Log entries read at once while the rows are brought level with the log.
local READ_PARTS = 16
-- Sums of rows are modulo this number, so additions stay exact.
local SUM_LIMIT = 281474976710656

local function text(number)
  return string.format('%.0f', number)
end

-- The amount that a row adds to the sum of all rows: 48 bits of a hash of key and stored value (`row-tally.ts`).
local function share_of(key, stored)
  local hash = redis.sha1hex(struct.pack('>I2', #key) .. key .. stored)
  return tonumber(string.sub(hash, 1, 6), 16) * 16777216 + tonumber(string.sub(hash, 7, 12), 16)
end

-- The position of the ledger; nil where there is no ledger. `is_counted`: count and sum belong to this sequence. They do
-- not where another release has committed since.
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
    -- The part number of the first entry of the next commit.
    part = 0,
  }
end

-- The meaning of a part, in the form that `apply` takes, from its fields in the log.
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

-- Brings rows, ids and meta level with the next commit, of which these are all parts. Safe to repeat: the result is the
-- same.
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

-- Brings everything level with the log. There is hardly ever anything left to do. The parts of a commit that a script could
-- not finish do not count: the last part is missing, and the next commit goes after them.
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

-- Finds keys that are lost, where that can be told at once.
local function examine(head)
  local count = redis.call('HLEN', rows)
  if not head.damage and head.is_counted and head.count ~= count then
    head.damage = 'rows'
  end
  -- With the ids only the knowledge of what was sent before is lost. From here on it is known again.
  if head.sequence > 0 and not redis.call('ZSCORE', ids, head.id) then
    head.first = head.sequence + 1
  end
  return count
end
