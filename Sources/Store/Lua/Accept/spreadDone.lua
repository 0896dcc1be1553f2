#!lua flags=allow-oom
-- All parts are where they belong.
-- KEYS message, spread, spreading
-- ARGV raw id
if redis.call('EXISTS', KEYS[1]) == 1 then
  redis.call('HSET', KEYS[1], 'st', 'q')
  redis.call('HDEL', KEYS[1], 'pn')
end
redis.call('DEL', KEYS[2])
redis.call('ZREM', KEYS[3], ARGV[1])
return 1
