#!lua
-- Keeps a text under a name:
-- KEYS texts
-- ARGV name, text, limit
-- → 1 new, 0 replaced, -1: there are as many as may be
if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 and redis.call('HLEN', KEYS[1]) >= tonumber(ARGV[3]) then return -1 end
return redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
