--[[
A node says that it lives. Both in one script: what has no end would be there for ever if the node died in between.

KEYS[1]  the ids of all nodes (hash)
KEYS[2]  what this node says (hash)
ARGV[1]  its id
ARGV[2]  what it says
ARGV[3]  for how many seconds that holds
]]
redis.call('HSET', KEYS[2], 'said', ARGV[2])
redis.call('EXPIRE', KEYS[2], ARGV[3])
redis.call('HSET', KEYS[1], ARGV[1], '')
redis.call('EXPIRE', KEYS[1], ARGV[3])
return 1
