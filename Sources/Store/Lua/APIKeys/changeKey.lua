#!lua flags=allow-oom
-- Writes or revokes one API key of an app, if no other was changed since; the field without a name counts changes.
-- KEYS secrets, keys of the app, their last uses
-- ARGV count of changes, id, record (empty: revoked), and of each secret that comes or goes its hash and whose it is
-- (empty: nobody's any more)
-- → 1, or 0 where others came between
if (redis.call('HGET', KEYS[2], '') or '0') ~= ARGV[1] then return 0 end
if ARGV[3] == '' then
  redis.call('HDEL', KEYS[2], ARGV[2])
  redis.call('HDEL', KEYS[3], ARGV[2])
else
  redis.call('HSET', KEYS[2], ARGV[2], ARGV[3])
end
for place = 4, #ARGV, 2 do
  if ARGV[place + 1] == '' then
    redis.call('HDEL', KEYS[1], ARGV[place])
  else
    redis.call('HSET', KEYS[1], ARGV[place], ARGV[place + 1])
  end
end
redis.call('HINCRBY', KEYS[2], '', 1)
return 1
