#!lua flags=allow-oom
-- An inline message gets the hashes that every other message has, as somebody wants more of it than to be sent.
-- KEYS inline messages, message, work
-- ARGV raw id, the inline message as it was read, number of message fields, fields…, part's fields…
-- → 0: it is none any more
if redis.call('HGET', KEYS[1], ARGV[1]) ~= ARGV[2] then return 0 end
local part = 4 + ARGV[3]
redis.call('HSET', KEYS[2], unpack(ARGV, 4, part - 1))
redis.call('HSET', KEYS[3], unpack(ARGV, part))
return redis.call('HDEL', KEYS[1], ARGV[1])
