#!lua flags=allow-oom
-- Ends an intent; numbers that got no record are free.
-- KEYS intents, free numbers
-- ARGV name, since when they are free, numbers
-- → 1, or 0: it is gone
if redis.call('HDEL', KEYS[1], ARGV[1]) == 0 then return 0 end
redis.call('HDEL', KEYS[1], '#' .. ARGV[1])
for i = 3, #ARGV do redis.call('ZADD', KEYS[2], 'NX', ARGV[2], ARGV[i]) end
return 1
