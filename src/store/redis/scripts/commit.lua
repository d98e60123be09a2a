--[[
Commits to the ledger of one environment: all or nothing, once per commit id.

KEYS[1…4]  as in ledger.lua
KEYS[5]    staged (list): the rows of a large commit instead of ARGV[12…]; absent for other commits

ARGV[1]  epoch that the commit belongs to
ARGV[2]  commit id, 16 bytes
ARGV[3]  sequence that the sender knew when it sent this commit first; -1 if this is the first time
ARGV[4]  entries that the log keeps, at least 1
ARGV[5]  channel on which the commit is announced
ARGV[6]  changes, stored without interpretation
ARGV[7], ARGV[8], ARGV[9]  number of requirements, of deletes, of puts
ARGV[10], ARGV[11]  sequence and id of a commit that the sender's base position contains; 0 and '' if none
ARGV[12…], or the staged list   per requirement: key, 'a' (absent) | 'v' (version) | 'c' (created), number;
                                                 or nothing, 'h' (head), number
                                per delete: key
                                per put: key, value

Returns  {1, sequence, lost}   committed, now or when this id was first sent; lost: 'log' or 'ids', a missing
                               key that did not prevent the commit; otherwise ''
         {0, index, sequence}  rejected: that requirement (from 0) does not hold; nothing was written
         {-1}                  the epoch is not ARGV[1], or was rewound to before the sender's base position;
                               nothing was written
         {-2}                  this was sent before, and the ids do not reach back far enough to determine
                               whether it was committed
         {-3}                  the staged rows are gone; nothing was written
         {-4, key}             that key was lost, or has unexpected content; nothing was written, except the
                               `damage` mark for an unreadable row

If the script fails with an error, nothing of this commit was made. Everything that could be rejected is
checked first, and no error leaves the script after the append to the log. O(requirements + rows).
]]
local staged = KEYS[5]
local epoch, id, channel, changes = ARGV[1], ARGV[2], ARGV[5], ARGV[6]
local known, kept = tonumber(ARGV[3]), tonumber(ARGV[4])
local ground, ground_id = tonumber(ARGV[10]), ARGV[11]
local requirement_count, delete_count, put_count = tonumber(ARGV[7]), tonumber(ARGV[8]), tonumber(ARGV[9])

-- Returns created and version of a stored row, from the part before its value: created (7 bytes), then 0 if
-- the commit that created the row wrote it last, otherwise 6 and the version (6 bytes). Nil for bytes that no
-- commit has stored.
local function stamp_of(stored)
  if #stored < 8 then
    return nil
  end
  local created, size = struct.unpack('>I7B', stored)
  if size == 0 then
    return created, math.floor(created / CREATED_PER_COMMIT)
  elseif size == 6 and #stored >= 14 then
    return created, (struct.unpack('>I6', stored, 9))
  end
  return nil
end

-- Records the damage, so that every node learns of it, not only the one that found it.
local function unreadable()
  redis.pcall('HSET', meta, 'damage', 'rows')
  return { -4, 'rows' }
end

local function stamped(created, sequence, value)
  if math.floor(created / CREATED_PER_COMMIT) == sequence then
    return struct.pack('>I7B', created, 0) .. value
  end
  return struct.pack('>I7BI6', created, 6, sequence) .. value
end

-- Fails, with a message like that of Redis, if a command of the commit would be rejected. Some compatible
-- servers cannot check that. On these, a later script completes the commit when the rejection is over.
local function require_right(command, ...)
  local is_known, is_permitted = pcall(redis.acl_check_cmd, command, ...)
  if not is_known then
    error({ err = "ERR unknown command '" .. command .. "'" })
  elseif not is_permitted then
    error({ err = "NOPERM this user has no permissions to run the '" .. command .. "' command on its key" })
  end
end

local head = head_of()
if not head or head.epoch ~= epoch then
  return { -1 }
end
local done = redis.call('ZSCORE', ids, id)
if not done and not head.damage then
  local sequence = head.sequence
  finish(head)
  done = head.sequence > sequence and redis.call('ZSCORE', ids, id)
end
if done then
  return { 1, tonumber(done), '' }
end
if head.damage then
  return { -4, head.damage }
end
local first = head.first
examine(head)
local lost = head.first ~= first and 'ids' or ''
if known >= 0 and known + 1 < head.first then
  return { -2 }
end
if head.damage then
  return { -4, head.damage }
end
local sequence = head.sequence + 1

-- A version is a number, and after a rewind the same numbers occur again: the row that the sender read might
-- be another one now. `ground` is the base position of the sender. It can be verified if it is not older than
-- the known ids.
if ground >= head.first then
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
  local stored = kind ~= 'h' and redis.call('HGET', rows, key)
  local holds
  if kind == 'h' then
    holds = number == head.sequence
  elseif kind == 'a' then
    holds = not stored
  elseif stored then
    local created, version = stamp_of(stored)
    if not created then
      return unreadable()
    end
    holds = number == (kind == 'v' and version or created)
  end
  if not holds then
    return { 0, index, sequence - 1 }
  end
end

local count, sum = head.count, head.sum
local function account(key, before, after)
  if not head.is_counted then
    return
  end
  if before then
    count, sum = count - 1, sum - share_of(key, before)
  end
  if after then
    count, sum = count + 1, sum + share_of(key, after)
  end
  sum = sum % SUM_LIMIT
end

local deleted = {}
local row_count = delete_count + put_count
local part_count = math.max(1, math.ceil(row_count / PART_ROWS))
-- Fields of the entries, and their meaning.
local entries, parts, row = {}, {}, 0
for part = 1, part_count do
  local removed, written = {}, {}
  local fields = { 'i', id, 'l', text(part_count - part) }
  if part == 1 then
    fields[5], fields[6] = 'c', changes
  end
  local last = math.min(row_count, part * PART_ROWS)
  while row < last do
    row = row + 1
    local key = items[at + 1]
    local stored = not deleted[key] and redis.call('HGET', rows, key)
    if row <= delete_count then
      at = at + 1
      deleted[key] = true
      removed[#removed + 1] = key
      fields[#fields + 1] = 'd'
      fields[#fields + 1] = key
      account(key, stored, nil)
    else
      local created = sequence * CREATED_PER_COMMIT + row - delete_count - 1
      if stored then
        created = stamp_of(stored)
        if not created then
          return unreadable()
        end
      end
      local new = stamped(created, sequence, items[at + 2])
      at = at + 2
      written[#written + 1] = key
      written[#written + 1] = new
      fields[#fields + 1] = 'p'
      fields[#fields + 1] = key
      fields[#fields + 1] = 'v'
      fields[#fields + 1] = new
      account(key, stored, new)
    end
  end
  entries[part] = fields
  parts[part] = { id = id, removed = removed, written = written }
end
if head.is_counted then
  local fields, last = entries[part_count], parts[part_count]
  last.count, last.sum = text(count), text(sum)
  for _, value in ipairs({ 'n', last.count, 's', last.sum }) do
    fields[#fields + 1] = value
  end
end

if redis.acl_check_cmd then
  require_right('hdel', rows, 'field')
  require_right('hset', rows, 'field', 'value')
  require_right('hset', meta, 'field', 'value')
  require_right('zadd', ids, '0', 'member')
  require_right('zremrangebyscore', ids, '0', '0')
  require_right('xtrim', log, 'MINID', '0')
  if staged then
    require_right('del', staged)
  end
end

for part = 1, part_count do
  local place = text(sequence) .. '-' .. text(head.part + part - 1)
  -- A log that should exist and does not is created again by the call that detects its loss.
  local is_first = sequence == 1 or lost == 'log'
  if not (is_first or redis.call('XADD', log, 'NOMKSTREAM', place, unpack(entries[part]))) then
    lost, is_first, head.first = 'log', true, sequence
    -- A node that has read all lost entries can verify with this field that this entry follows them.
    local fields = entries[part]
    fields[#fields + 1], fields[#fields + 2] = 'b', head.id
  end
  if is_first then
    redis.call('XADD', log, place, unpack(entries[part]))
  end
end

-- The commit is made. If a command fails from here on, the next script repeats it.
local oldest = math.min(sequence - kept + 1, head.first + TRIMMED_MAX)
local is_trimmed = oldest > head.first
if is_trimmed then
  head.first = oldest
end
local is_applied = pcall(apply, head, parts)
if is_applied and is_trimmed then
  redis.pcall('ZREMRANGEBYSCORE', ids, '-inf', text(head.first - 1))
  -- The entry before the first one is kept. With its id, a reader at that position can verify that the epoch
  -- is still the same.
  redis.pcall('XTRIM', log, 'MINID', text(head.first - 1) .. '-0')
end
if staged then
  redis.pcall('DEL', staged)
end
-- The message is only a hint. A user without permission to publish must not make the commit fail. Other nodes
-- then find the commit by their timers.
redis.pcall('PUBLISH', channel, epoch .. '.' .. text(sequence))
return { 1, sequence, lost }
