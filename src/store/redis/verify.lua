--[[
Compares all rows, as somebody has read them at one position, with what commits have kept account of. The account is a sum
over the rows (`share_of`) that goes on with every commit: from 0 at the sequence `since`, to which `base` is to be added, the
sum of the rows there. A ledger that an earlier release wrote has no base: who reads it all for the first time gives it one.

KEYS[1…4]  as in ledger.lua
ARGV[1]    epoch the rows are of
ARGV[2]    since, as it was at that position
ARGV[3]    sum, as it was at that position
ARGV[4]    sum of the rows there
ARGV[5]    '1' where their number is as it was to be at that position; '0' where it is not; 'unreadable' where one of them
           cannot be read: the others are not known then, and ARGV[2…4] do not count

Returns  {1}    as they should be, or nobody can tell
         {-4}   not so; it is written down, and who opens the ledger or commits to it hears of it
]]
local found = redis.call('HMGET', meta, 'epoch', 'since', 'base')
local is_unreadable = ARGV[5] == 'unreadable'
if found[1] ~= ARGV[1] or not is_unreadable and (found[2] ~= ARGV[2] or ARGV[2] == '') then
  return { 1 }
end
local sum, of_rows, base = tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(found[3])
if ARGV[5] == '1' then
  if not base then
    redis.call('HSET', meta, 'base', text((of_rows - sum) % SUM_LIMIT))
    return { 1 }
  end
  if (sum + base) % SUM_LIMIT == of_rows then
    return { 1 }
  end
end
redis.call('HSET', meta, 'damage', 'rows')
return { -4 }
