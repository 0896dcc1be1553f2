#!lua flags=allow-oom
-- Hands the outcomes that became final since the last time to one process, which counts them. What it was handed stays
-- until it asks for the next: the same number again gives the same answer.
-- KEYS lease, tallies, taken
-- ARGV owner, number
-- → names and counts
-- use owner
if redis.call('HGET', KEYS[3], '') ~= ARGV[2] then
  redis.call('DEL', KEYS[3])
  if redis.call('EXISTS', KEYS[2]) == 1 then redis.call('RENAME', KEYS[2], KEYS[3]) end
  redis.call('HSET', KEYS[3], '', ARGV[2])
  redis.call('EXPIRE', KEYS[3], 3600)
end
return redis.call('HGETALL', KEYS[3])
