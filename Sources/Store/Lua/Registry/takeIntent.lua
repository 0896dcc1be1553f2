#!lua flags=allow-oom
-- Gives an intent another name: whoever had it writes nothing more under it.
-- KEYS intents
-- ARGV name, new name
-- → what it says, or nil: it is gone
local held = redis.call('HGET', KEYS[1], ARGV[1])
if not held then return false end
redis.call('HSET', KEYS[1], ARGV[2], held, '#' .. ARGV[2], '1')
redis.call('HDEL', KEYS[1], ARGV[1], '#' .. ARGV[1])
return held
