#!lua flags=allow-oom
-- None of its retries is out of turn any more, unless some were put there meanwhile.
-- KEYS lease, parked
-- ARGV owner, raw id, count when the search began
-- use owner
if redis.call('HGET', KEYS[2], ARGV[2]) ~= ARGV[3] then return 0 end
return redis.call('HDEL', KEYS[2], ARGV[2])
