#!lua flags=allow-oom
-- Says which sets the newcomers of an intent are about to enter.
-- KEYS intents
-- ARGV name, what it says now
-- → 1, or 0: it is gone
if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 then return 0 end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2], '#' .. ARGV[1], '1')
return 1
