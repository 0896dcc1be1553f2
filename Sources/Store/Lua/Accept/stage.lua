#!lua
-- Some of what a message is to spread, before the message is stored: until then it goes by itself.
-- KEYS message, spread or staged body
-- ARGV seconds, field, value
-- → 0: the message is stored
if redis.call('EXISTS', KEYS[1]) == 1 then return 0 end
redis.call('HSET', KEYS[2], ARGV[2], ARGV[3])
redis.call('EXPIRE', KEYS[2], ARGV[1])
return 1
