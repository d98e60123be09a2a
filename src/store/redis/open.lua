--[[
Opens the ledger of one environment; an absent one begins a history, if the caller may begin one. Of callers that race on
an empty server one creates the history, and all get the same.

KEYS[1]  meta (hash)
ARGV[1]  the format this release reads and writes
ARGV[2]  the epoch of a new history; empty: do not begin one

Returns  {1, epoch, sequence, id of the newest commit}   open
         {0}                                             there is no history, and none was to begin
         {-1, format}                                    another release's format; nothing was changed
]]
local meta, format, epoch = KEYS[1], ARGV[1], ARGV[2]

local found = redis.call('HMGET', meta, 'format', 'epoch', 'sequence', 'id')
if not found[1] then
  if epoch == '' then
    return { 0 }
  end
  redis.call('HSET', meta, 'format', format, 'epoch', epoch, 'sequence', '0', 'id', '', 'first', '1')
  return { 1, epoch, 0, '' }
end
if found[1] ~= format then
  return { -1, found[1] }
end
return { 1, found[2], tonumber(found[3]), found[4] }
