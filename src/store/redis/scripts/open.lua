--[[
Returns the position of the ledger of one environment, and applies the log to its other keys. If there is no
ledger and the caller permits it, an epoch begins. If several callers do this on an empty server, one creates
the epoch, and all get the same one.

KEYS[1…4]  as in ledger.lua
KEYS[5]    removed (list): not empty if the environment was removed deliberately
ARGV[1]    the format that this release reads and writes
ARGV[2]    the name of a new epoch; empty to begin none

Returns  {1, epoch, sequence, id of the newest commit, count of rows, sum, since, base}
                        open; the sums are as in verify.lua, and empty if no checksum is kept
         {0}            there is no epoch, and none was to begin
         {-1, format}   the format of another release; nothing was changed
         {-4, key}      that key was lost, or has unexpected content; nothing was changed
]]
local removed, format, epoch = KEYS[5], ARGV[1], ARGV[2]

local found = redis.call('HGET', meta, 'format')
if not found then
  local is_empty = redis.call('HLEN', rows) == 0 and #redis.call('XRANGE', log, '-', '+', 'COUNT', '1') == 0
  local was_removed = not is_empty and #redis.call('LRANGE', removed, '0', '0') > 0
  if not is_empty and not was_removed then
    return { -4, 'meta' }
  end
  if epoch == '' then
    return { 0 }
  end
  -- These keys can remain after a removal, or if a server has lost other keys that contained no data.
  redis.call('DEL', rows, log, ids)
  redis.call('HSET', meta, 'format', format, 'epoch', epoch, 'sequence', '0', 'id', '', 'first', '1',
    'count', '0', 'sum', '0', 'summed', '0', 'since', '0', 'base', '0')
elseif found ~= format then
  return { -1, found }
end

local head = head_of()
if not head then
  return { -4, 'meta' }
end
if not head.damage then
  finish(head)
end
local count = not head.damage and examine(head)
if head.damage then
  return { -4, head.damage }
end
local position = { 1, head.epoch, head.sequence, head.id, text(count), '', '', '' }
if not head.is_counted then
  -- The checksum begins here. A user without permission to write it continues without a checksum.
  local at = text(head.sequence)
  local begun = redis.pcall('HSET', meta, 'count', text(count), 'sum', '0', 'summed', at, 'since', at, 'base', '')
  head.is_counted = type(begun) == 'number'
end
if head.is_counted then
  local sums = redis.call('HMGET', meta, 'sum', 'since', 'base')
  position[6], position[7], position[8] = sums[1], sums[2], sums[3] or ''
end
return position
