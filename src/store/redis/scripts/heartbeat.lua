--[[
Publishes the heartbeat of a node. One script sets value and expiration: otherwise an entry would remain
forever if the node died in between.

KEYS[1]  ids of all nodes (hash)
KEYS[2]  heartbeat of this node (hash)
ARGV[1]  id of this node
ARGV[2]  text of the heartbeat
ARGV[3]  seconds until it expires
]]
redis.call('HSET', KEYS[2], 'said', ARGV[2])
redis.call('EXPIRE', KEYS[2], ARGV[3])
redis.call('HSET', KEYS[1], ARGV[1], '')
redis.call('EXPIRE', KEYS[1], ARGV[3])
return 1
