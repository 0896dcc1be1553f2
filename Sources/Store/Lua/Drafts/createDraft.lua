#!lua
-- KEYS drafts, draft
-- ARGV id, limit, now, message, name, what it is a copy of, id of the key that writes it
-- → 1, or 0: there are as many as may be
if redis.call('ZCARD', KEYS[1]) >= tonumber(ARGV[2]) then return 0 end
redis.call('HSET', KEYS[2], 'v', 1, 'c', ARGV[3], 'u', ARGV[3], 'b', ARGV[4], 'e', ARGV[7], 'ev', 1)
if ARGV[5] ~= '' then redis.call('HSET', KEYS[2], 'n', ARGV[5]) end
if ARGV[6] ~= '' then redis.call('HSET', KEYS[2], 'o', ARGV[6]) end
redis.call('ZADD', KEYS[1], ARGV[3], ARGV[1])
return 1
