#!lua flags=allow-oom
-- KEYS lease
-- ARGV owner, channel, partition
if redis.call('HGET', KEYS[1], 'o') == ARGV[1] then
  redis.call('HSET', KEYS[1], 'o', '', 'u', 0)
  redis.call('PUBLISH', ARGV[2], 'l ' .. ARGV[3])
end
return 1
