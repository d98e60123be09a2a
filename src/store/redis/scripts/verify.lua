--[[
Compares all rows, as a reader has read them at one position, with the checksum that commits maintain. The
checksum is a sum over the rows (`share_of`) that every commit updates. It starts at 0 at the sequence
`since`; `base`, the sum of the rows at that sequence, must be added. A ledger that an earlier release wrote
has no base: the first reader of all rows sets it.

KEYS[1…4]  as in ledger.lua
ARGV[1]    epoch of the rows
ARGV[2]    since, as it was at that position
ARGV[3]    sum, as it was at that position
ARGV[4]    sum of the rows there
ARGV[5]    '1' if their number is as expected at that position; '0' if it is not; 'unreadable' if one of them
           cannot be read: the others are not known then, and ARGV[2…4] are ignored

Returns  {1}    the rows are as expected, or this cannot be determined
         {-4}   they are not; that is recorded, and every node that opens the ledger or commits to it learns
                of the damage
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
